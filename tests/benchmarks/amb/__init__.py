"""The Agent Memory Benchmark v1: its data, an adapter that uses the public API only, and a scorer."""
