"""Show any result: parts, words, languages, pages."""
