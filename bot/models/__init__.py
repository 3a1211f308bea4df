"""Language models that the conductor itself asks: the supervisor's and the planner's, over HTTP. Agents bring their own."""
