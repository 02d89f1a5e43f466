"""Trying other settings out, comparing them, and looking for better ones."""
