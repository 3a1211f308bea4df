"""Program 2, inside each dispatched job: claim check, context, agent, gates, hand-over, verify, publish."""
