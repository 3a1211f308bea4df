"""Program 1, the tick: observe the repository, plan, carry the plan out, tell people. Everything between two ticks is on GitHub."""
