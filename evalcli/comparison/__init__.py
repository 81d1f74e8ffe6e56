"""Pure: records to summaries, states and verdicts."""
