"""One pipeline for every call to a provider."""
