"""Which files have to go, where stamps are not what this package would have written."""

from __future__ import annotations

from oort_flows.files import Limits
from oort_flows.files.engine import evict
from oort_flows.files.snapshot import Entry


def test_equal_stamps_go_by_path():
    """Foreign metadata may hold one stamp twice; then the paths decide, so that all adapters agree."""
    entries = {f"/memories/{name}.md": Entry(1, 7) for name in ("c", "a", "b", "new")}
    gone, total = evict(entries, 4, Limits(max_files=2), keep="/memories/new.md")
    assert gone == ("/memories/a.md", "/memories/b.md")
    assert entries.keys() == {"/memories/c.md", "/memories/new.md"}
    assert total == 2


def test_target_stays_whatever_its_stamp():
    """The file just written is kept even where others claim to be later."""
    entries = {"/memories/new.md": Entry(3, 1), "/memories/a.md": Entry(3, 5), "/memories/b.md": Entry(3, 9)}
    gone, total = evict(entries, 9, Limits(max_total_bytes=6), keep="/memories/new.md")
    assert gone == ("/memories/a.md",)
    assert total == 6


def test_nothing_goes_where_everything_fits():
    """Exactly at the limits is within them."""
    entries = {"/memories/a.md": Entry(2, 1), "/memories/b.md": Entry(2, 2)}
    assert evict(entries, 4, Limits(max_total_bytes=4, max_files=2), keep="/memories/b.md") == ((), 4)
    assert len(entries) == 2
