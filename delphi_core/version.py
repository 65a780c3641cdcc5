"""Version of the package: what the build reads, and what files say they were made by."""

__version__ = "0.6.0"
