"""Pages for people: issues, pull requests, runs and logs of the world, as HTML."""
