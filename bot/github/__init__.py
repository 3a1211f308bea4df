"""The only room that knows GitHub's API: the port that others see, the real client, and the dry run."""
