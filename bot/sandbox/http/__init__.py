"""The world over HTTP on loopback: GitHub's REST and GraphQL, git, artifacts, and pages for people."""
