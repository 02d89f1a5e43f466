"""Measuring with the user's own questions whether retrieval finds the right passages.

Gold is spans of documents, never chunks, so that any cutting and any way of retrieving can be
scored on the same questions, and what was measured is what is served.
"""
