"""GitHub's REST over the world: what each route does with it, and the bodies it answers with."""
