"""
Reading a question: which way of recalling it asks for, about which time, and what is left to search for.

Rules only, no model, no clock and no storage: the same question, time and zone always read alike. English, German, French,
Spanish, Portuguese, Chinese and Japanese are understood; whatever is not understood asks for the present.
"""

from oort_flows.engine.asking.inference import Asked, infer

__all__ = ["Asked", "infer"]
