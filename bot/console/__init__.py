"""What a person types: plan, why, runs, stats, batch, doctor, init. It looks with the conductor's eyes and never ticks."""
