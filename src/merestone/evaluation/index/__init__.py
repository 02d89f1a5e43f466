"""Which index suits a library's vectors."""
