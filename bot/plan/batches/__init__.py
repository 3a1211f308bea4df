"""Batches: their members, how far each one is, the gate over all of them, and how a batch ends."""
