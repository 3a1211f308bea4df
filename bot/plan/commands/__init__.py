"""Comment commands: carried out, answered, and what they ask to be allowed first."""
