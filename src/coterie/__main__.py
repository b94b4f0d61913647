"""python -m coterie: the command line."""

from coterie.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
