"""Everything on one machine: a make-believe GitHub, its HTTP face, and an engine that runs the workflows."""
