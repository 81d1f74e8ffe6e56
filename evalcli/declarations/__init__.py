"""What may be declared, as frozen Pydantic models; no reading."""
