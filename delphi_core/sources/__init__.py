"""Where figures come from, each a function to tables."""
