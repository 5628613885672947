"""`python -m peerage`: the command line."""

from peerage.cli.main import main

main()
