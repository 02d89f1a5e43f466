"""Asking a library its questions, and the record of what came of it."""
