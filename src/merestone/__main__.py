"""``python -m merestone``: the command ``merestone``."""

from merestone.cli.main import main

if __name__ == "__main__":
    main()
