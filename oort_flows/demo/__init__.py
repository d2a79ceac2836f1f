"""
The main job: release notes of a real repository, written by a pipeline that remembers where it ended.

:mod:`~oort_flows.demo.pipeline` is the flow and reads on its own; the other modules are what it is made of.
"""
