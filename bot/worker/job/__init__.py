"""One job of a worker's run: where it runs, whether its claim holds, what its repository wants, what it hands on."""
