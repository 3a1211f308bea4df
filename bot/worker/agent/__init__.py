"""The job that runs an agent: rounds, questions, hooks, and the joined commit of a gate."""
