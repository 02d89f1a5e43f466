"""Fitting relevance and the weight of a side to a library's own questions."""
