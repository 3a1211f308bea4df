"""Programs of ours that run inside the environment of an agent, never in our own."""
