"""Names of spaces: told apart exactly, and read back as they are written."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oort_flows.errors import InvalidInputError
from oort_flows.models.memories import Space, checked_name

names = st.text(st.characters(min_codepoint=0x20, exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(
    str.strip
)


@given(names, names)
def test_no_two_spaces_share_a_name(one, other):
    """Separators inside of names never make two spaces one, nor a star another one."""
    spaces = [Space.planet(one), Space.constellation(one), Space.star(one, other), Space.star(other, one)]
    same = unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
    assert len(set(spaces)) == (3 if same else 4)


@given(names, names)
def test_space_is_read_back_from_its_name(one, other):
    """The name says all there is."""
    for space in (Space.planet(one), Space.constellation(one), Space.star(one, other)):
        assert Space.parse(str(space)) == space


@pytest.mark.parametrize(
    "name", ["planet", "planet:", "planet:a/b", "star:a", "star:a/b/c", "galaxy:a", "star:/b", "a", 5, None]
)
def test_what_is_no_space_is_refused(name):
    """A space has a kind and as many parts as that kind."""
    with pytest.raises(InvalidInputError):
        Space.parse(name, "to")


@pytest.mark.parametrize("name", ["", " ", "\n", "a\nb", "a\x00", "\ud800", 5, None, "x" * 513])
def test_name_that_names_nobody_is_refused(name):
    """Blank, too long, or not printable."""
    with pytest.raises(InvalidInputError):
        checked_name(name, "user")
