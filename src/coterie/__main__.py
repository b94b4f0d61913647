"""python -m coterie: the command line."""

from coterie.cli.main import process

if __name__ == "__main__":
    process()
