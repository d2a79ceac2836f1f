"""Memory for Prefect pipelines: every step remembers, and every change carries its reason."""

__version__ = "0.1.0"
