"""
Taking secrets out of text before anything keeps it.

What a secret looks like is data, in ``rules.toml``; a marker such as ``[secret: github-token]`` takes its place and names
the kind only. The words around it stay, and so do commit hashes, UUIDs, digests, versions, ports and image data.
"""

from oort_flows.scrubbing.rules import Rule, builtin_rules
from oort_flows.scrubbing.scrubber import Scrubbed, Scrubber, marker, scrub, scrub_all

__all__ = ["Rule", "Scrubbed", "Scrubber", "builtin_rules", "marker", "scrub", "scrub_all"]
