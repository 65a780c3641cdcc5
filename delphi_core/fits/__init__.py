"""Fits: frozen settings, a pure call, a frozen result. They know no files and no network."""
