"""Ids of memories: UUIDs of version 7, which sort by the time of recording (RFC 9562, section 5.7)."""

from __future__ import annotations

import os
import re
from typing import Final

__all__ = ["is_id", "new_id", "new_ids"]

_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")


def new_id(micros: int) -> str:
    """
    Return a fresh id for something recorded *micros* microseconds after 1970.

    >>> new_id(1_700_000_000_000_000)[:15]
    '018bcfe5-6800-7'
    """
    return _made(micros, os.urandom(10))


def new_ids(micros: int, count: int) -> list[str]:
    """Return *count* fresh ids for things recorded at one time."""
    chance = os.urandom(10 * count)
    return [_made(micros, chance[start : start + 10]) for start in range(0, 10 * count, 10)]


def _made(micros: int, random: bytes) -> str:
    stamp = max(micros // 1000, 0) & (2**48 - 1)
    chance = int.from_bytes(random, "big")
    bits = stamp << 80 | 0x7 << 76 | (chance >> 68) << 64 | 0b10 << 62 | chance & (2**62 - 1)
    digits = f"{bits:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def is_id(text: str) -> bool:
    """Tell whether *text* is written as an id."""
    return _ID.match(text) is not None
