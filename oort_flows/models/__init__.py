"""Frozen values that pass between the layers: no input, no output, no clock."""
