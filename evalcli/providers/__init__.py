"""One adapter per file."""
