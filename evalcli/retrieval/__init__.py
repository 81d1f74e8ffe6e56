"""Retrieval: retrievers, their corpora, and how a ranking is scored."""
