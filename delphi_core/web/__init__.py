"""The only part that imports streamlit: cached loading, view state in the URL, messages."""
