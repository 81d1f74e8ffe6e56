"""Foreign collections of labelled questions → golden question sets; one file per format."""
