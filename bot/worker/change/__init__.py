"""The change an agent made: own clone, starting point, bundle, and what the rules say of it."""
