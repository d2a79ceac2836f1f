"""
Prefect's side of the step's memory: which run this is, and blocks by name.
"""
