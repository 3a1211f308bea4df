"""The job that may write: proven work pushed, its pull request, its report. Nothing of the change runs here."""
