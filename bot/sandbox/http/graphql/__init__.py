"""GitHub's GraphQL over the world: the schema, what it resolves, and what a document costs."""
