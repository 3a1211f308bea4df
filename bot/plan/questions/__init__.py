"""Questions of agents: who is asked, what counts as an answer, and what needs nobody."""
