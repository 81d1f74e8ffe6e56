"""Files to declarations, with the place of every fault."""
