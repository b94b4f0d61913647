"""The command line: `main` is the door, and every command has its own file."""
