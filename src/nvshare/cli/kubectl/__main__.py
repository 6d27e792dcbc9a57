"""``python -m nvshare.cli.kubectl``."""

from nvshare.cli.kubectl.main import main

main()
