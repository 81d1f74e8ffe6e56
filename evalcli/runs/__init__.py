"""From a declaration to stored records: plan, trial, executor, conductor."""
