"""Runs and baselines, kept in SQLite."""
