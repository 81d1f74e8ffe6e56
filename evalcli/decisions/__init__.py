"""Decisions: checks, asks and verifies; never decides what follows."""
