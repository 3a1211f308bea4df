"""What an agent is told: gathered, packed into its size, and worded."""
