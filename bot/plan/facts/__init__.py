"""What a snapshot says about one task: who ordered it, what its labels mean, which engine works on it."""
