"""`cf batch`: orders checked and written, given from a shell, and shown."""
