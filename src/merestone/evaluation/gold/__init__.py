"""Where the answers of questions stand in a library's documents, and what became of them."""
