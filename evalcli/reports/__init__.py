"""Records to text, JSON and JUnit."""
