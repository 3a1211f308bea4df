"""The till of a very small shop."""
