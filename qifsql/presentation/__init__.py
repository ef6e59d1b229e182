"""How any result is shown: parts, words, languages, pages."""
