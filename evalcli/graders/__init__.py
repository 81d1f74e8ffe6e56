"""From prompt and answer to a grade."""
