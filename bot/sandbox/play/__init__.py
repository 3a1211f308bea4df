"""Playing a whole story through: the session, the people in it, the screen that shows it."""
