"""Merestone."""
