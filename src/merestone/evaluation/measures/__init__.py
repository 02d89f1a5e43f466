"""What was served, held against the gold."""
