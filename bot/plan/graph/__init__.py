"""Numbers and edges only: order, cycles, forecasts, bisection. Nothing here knows a snapshot."""
