"""`cf init`: the workflows and a first configuration for a repository, with the gates found in it."""
