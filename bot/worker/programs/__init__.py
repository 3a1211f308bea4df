"""Running programs that are not ours: processes, their environment, their output without secrets, gates."""
