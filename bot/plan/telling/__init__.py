"""What people and machines are told: the overview, events, statistics."""
