"""Working on text: lines, graphemes, sentences, tokens, terms, edits and hashes."""
