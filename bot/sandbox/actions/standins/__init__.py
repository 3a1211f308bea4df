"""What stands in for the actions that act would fetch from the network: one program of its own for each."""
