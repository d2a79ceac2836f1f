"""How a question is read, and how a memory is found, judged and kept."""
