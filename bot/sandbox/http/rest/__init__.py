"""GitHub's REST over the world: routes, bodies, errors, and the artifact storage beside it."""
