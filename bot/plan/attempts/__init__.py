"""One attempt from claim to status: following it, judging its end, what the end brings with it."""
