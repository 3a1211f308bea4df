"""Who may start now, and what everybody else waits for."""
