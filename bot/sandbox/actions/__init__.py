"""The Actions side of the sandbox: `act` runs the very workflow files that a repository installs."""
