"""One script for each revision of the schema."""
