"""Display of any result: parts, words, languages, pages."""
