"""``python -m nvshare``: the command line without its entry point script."""

from nvshare.cli.main import main

if __name__ == "__main__":
    main()
