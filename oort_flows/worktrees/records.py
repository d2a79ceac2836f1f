"""
The reasoning record: what a step says of why, kept while it runs and made into the message of its commit.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal

from oort_flows.calling import call
from oort_flows.errors import ConfigurationError, InvalidInputError
from oort_flows.worktrees import messages
from oort_flows.worktrees.runlogs import listening

__all__ = ["Captured", "Outcome", "ReasoningRecord", "Turn"]

CAPTURE_LIMIT = 1_000_000  # characters

TurnType = Literal["note", "text", "thinking", "log"]

_logger = logging.getLogger("oort_flows.worktrees")


@dataclass(frozen=True, slots=True)
class Turn:
    """Something a step said: a note, a stretch of streamed text or thinking, or a line of its run log."""

    type: TurnType
    text: str


@dataclass(frozen=True, slots=True)
class Captured:
    """
    What a record holds of a step, oldest first; iterating gives the turns.

    Attributes
    ----------
    turns:
        The turns as they were said, secrets and all.
    dropped:
        How many characters, the oldest ones, were dropped because there were too many.
    """

    turns: tuple[Turn, ...] = ()
    dropped: int = 0

    @property
    def text(self) -> str:
        """All of it in one string."""
        return "".join(turn.text for turn in self.turns)

    def of(self, *types: TurnType) -> list[str]:
        """Return the texts of some types of turns."""
        return [turn.text for turn in self.turns if turn.type in types]

    def __iter__(self) -> Iterator[Turn]:
        return iter(self.turns)

    def __len__(self) -> int:
        return len(self.turns)


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    What came of a step, as far as it is known before its commit is made.

    Attributes
    ----------
    status:
        ``completed``: the step has returned.
    summary:
        The first line of the text that it returned, if it returned a text.
    value:
        What it returned.
    flow_run, task_run, scope:
        The run it was part of and the scope of its memory, for the trailers.
    """

    status: str = "completed"
    summary: str | None = None
    value: Any = None
    flow_run: str | None = None
    task_run: str | None = None
    scope: str | None = None


Compose = Callable[[str, Captured, Any], Any]
"""Takes stage, what was captured, and the outcome; returns subject and body. Plain or async."""


@dataclass(slots=True)
class _Chunk:
    type: TurnType
    path: tuple[str, ...] | None
    text: str
    opens: bool


class ReasoningRecord:
    """
    What a step says of why it does what it does, for the message of its commit.

    It makes no commit: :func:`isolated` asks it for the message of the one that it makes, and tells it when that has landed.

    Parameters
    ----------
    stage:
        What the step is called; not blank. It stands in the subject.
    path:
        Where in a stream the step's events are: an event counts if its ``path`` begins with this. Left out, the first event
        whose path contains *stage* says where: at that path up to and including it.
    compose:
        Makes the message: ``compose(stage, captured, outcome)`` returns a subject of one line and a body, as a pair or as a
        mapping or object with ``subject`` and ``body``. Plain or async. It sees what was said as it was said; what it
        returns is cleaned of secrets and cut. Left out, the summary becomes the subject and the notes and log lines become
        the body.
    compose_timeout:
        Seconds that *compose* may take.
    log_level:
        From which level on what the step's run logger (``prefect.get_run_logger()``, also ``print`` with ``log_prints``)
        says is kept; ``None`` keeps none of it. What Prefect says of its own accord is never kept, nor what was already
        filtered out by Prefect's own logging level.

    Raises
    ------
    ConfigurationError
        If a setting is unusable.

    Notes
    -----
    At most 1,000,000 characters are kept; beyond that the oldest go. The message is the *floor*, ``record(<stage>)`` with
    the summary or the status and one fixed paragraph, if *compose* fails: it raises, takes too long, or returns ``None``, a
    part that is blank or no text, or a subject with a line break. So it is without *compose* if there is neither a note nor
    a log line. So the subject tells the two apart: ``implement: Raised the retry limit`` where the step has said why, and
    ``record(implement): Raised the retry limit`` where it has not.

    Example
    -------
    >>> record = ReasoningRecord("implement")
    >>> record.note("Tried patching in place; the parser is shared.")
    >>> print(record.message(Outcome(summary="Raised the retry limit")))
    implement: Raised the retry limit
    <BLANKLINE>
    ## Why
    <BLANKLINE>
    Tried patching in place; the parser is shared.
    <BLANKLINE>
    >>> print(ReasoningRecord("implement").message(Outcome(summary="Raised the retry limit")))
    record(implement): Raised the retry limit
    <BLANKLINE>
    ## Why
    <BLANKLINE>
    No reason was composed for this change. The step ended with status completed and left 0 turns.
    <BLANKLINE>
    """

    def __init__(
        self,
        stage: str,
        path: Sequence[str] | None = None,
        compose: Compose | None = None,
        *,
        compose_timeout: float = 60.0,
        log_level: int | str | None = "INFO",
    ) -> None:
        if not isinstance(stage, str) or not messages.clean_subject(stage):
            raise ConfigurationError("stage must be a string that is not blank")
        if path is not None and _as_path(path) is None:
            raise ConfigurationError("path must be a sequence of strings")
        if compose is not None and not callable(compose):
            raise ConfigurationError("compose must be callable")
        if isinstance(compose_timeout, bool) or not isinstance(compose_timeout, (int, float)) or not compose_timeout > 0:
            raise ConfigurationError("compose_timeout must be a positive number of seconds")
        self.stage = stage
        self._path = _as_path(path) or None
        self._compose = compose
        self._compose_timeout = compose_timeout
        self._log_level = _as_level(log_level)
        self._lock = threading.Lock()
        self._chunks: deque[_Chunk] = deque()
        self._length = 0
        self._dropped = 0
        self._recalled: dict[str, None] = {}

    def __repr__(self) -> str:
        return f"ReasoningRecord({self.stage!r}, path={self._path!r})"

    # Capture -------------------------------------------------------------------------------------------------------

    def note(self, text: str) -> None:
        """
        Keep a remark for the message; a blank one is ignored.

        Raises
        ------
        InvalidInputError
            If *text* is no string.
        """
        if not isinstance(text, str):
            raise InvalidInputError("text", "must be a string")
        if text.strip():
            self._keep("note", None, text)

    def observe(self, event: object) -> None:
        """
        Keep a piece of streamed text or thinking.

        Parameters
        ----------
        event:
            A mapping or an object with ``type`` (``text`` or ``thinking``), ``delta`` (a string that is not empty) and
            ``path`` (a sequence of strings). Anything else is ignored, as are events from elsewhere in the stream.
        """
        type_, delta, path = (_field(event, name) for name in ("type", "delta", "path"))
        where = _as_path(path)
        if type_ not in ("text", "thinking") or not isinstance(delta, str) or not delta or where is None:
            return
        with self._lock:
            if self._path is None and self.stage in where:
                self._path = where[: where.index(self.stage) + 1]
            pinned = self._path
        if pinned is not None and where[: len(pinned)] == pinned:
            self._keep(type_, where, delta)

    def recalled(self, ids: Iterable[str]) -> None:
        """Keep the ids of memories that the step has read, for the trailer that names them."""
        with self._lock:
            self._recalled |= dict.fromkeys(name for name in (str(i).replace(",", " ").strip() for i in ids) if name)

    def listening(self) -> AbstractContextManager[None]:
        """Keep what the code inside says through its run logger."""
        if self._log_level is None:
            return nullcontext()
        return listening(lambda line: self._keep("log", None, line), self._log_level)

    def captured(self) -> Captured:
        """Return a copy of what is kept now."""
        with self._lock:
            turns: list[tuple[TurnType, list[str]]] = []
            for chunk in self._chunks:
                if chunk.opens or not turns:
                    turns.append((chunk.type, []))
                turns[-1][1].append(chunk.text)
            return Captured(tuple(Turn(type_, "".join(texts)) for type_, texts in turns), self._dropped)

    def _keep(self, type_: TurnType, path: tuple[str, ...] | None, text: str) -> None:
        with self._lock:
            last = self._chunks[-1] if self._chunks else None
            # What is streamed comes in pieces; pieces of one kind from one place that follow each other are one turn.
            goes_on = last is not None and path is not None and (last.type, last.path) == (type_, path)
            self._chunks.append(_Chunk(type_, path, text, opens=not goes_on))
            self._length += len(text)
            while self._length > CAPTURE_LIMIT:
                self._drop(self._length - CAPTURE_LIMIT)

    def _drop(self, excess: int) -> None:
        oldest = self._chunks[0]
        gone = min(excess, len(oldest.text))
        oldest.text = oldest.text[gone:]
        self._length -= gone
        self._dropped += gone
        if oldest.text:
            return
        self._chunks.popleft()
        if self._chunks and oldest.opens and not self._chunks[0].opens:
            self._chunks[0].opens = True

    # The message ---------------------------------------------------------------------------------------------------

    def message(self, outcome: object) -> str:
        """
        Return the message of the commit: subject, body and trailers, clean and of bounded size.

        Parameters
        ----------
        outcome:
            An :class:`Outcome`, or any mapping or object with some of its fields.
        """
        captured = self.captured()
        composed = self._composed(captured, outcome)
        subject, body = composed if composed is not None else self._floor(captured, outcome)
        flow_run, task_run, scope = (_text_field(outcome, name) for name in ("flow_run", "task_run", "scope"))
        with self._lock:
            recalled = list(self._recalled)
        return messages.assemble(subject, body, messages.trailer_lines(flow_run, task_run, scope, recalled))

    def committed(self, sha: str) -> None:
        """Forget what was kept: the commit *sha*, which carries it, has landed. Where to listen stays known."""
        with self._lock:
            self._chunks.clear()
            self._recalled.clear()
            self._length = self._dropped = 0

    def _composed(self, captured: Captured, outcome: object) -> tuple[str, str] | None:
        if self._compose is None:
            return self._default(captured, outcome)
        try:
            answer = call(self._compose, self.stage, captured, outcome, timeout=self._compose_timeout)
        except Exception as error:  # noqa: BLE001 - whatever it does, the step lands
            _logger.warning(
                "compose failed (%s); the commit of %s gets the plain message",
                type(error).__name__,
                messages.clean_subject(self.stage),
            )
            return None
        subject, body = _parts(answer)
        if not isinstance(subject, str) or not isinstance(body, str) or "\n" in subject or "\r" in subject:
            return None
        subject, body = messages.clean_subject(subject), messages.clean_body(body)
        return (subject, body) if subject and body else None

    def _default(self, captured: Captured, outcome: object) -> tuple[str, str] | None:
        notes, lines = captured.of("note"), captured.of("log")
        if not notes and not lines:
            return None
        said = [note.strip() for note in notes]
        if lines:
            said.append("\n".join(f"- {' '.join(line.split())}" for line in lines))
        summary = _text_field(outcome, "summary")
        subject = messages.clean_subject(f"{self.stage}: {summary}" if summary else self.stage)
        return subject, messages.clean_body("\n\n".join(["## Why", *said]))

    def _floor(self, captured: Captured, outcome: object) -> tuple[str, str]:
        status = _text_field(outcome, "status") or "completed"
        subject = f"record({self.stage}): {_text_field(outcome, 'summary') or status}"
        return messages.clean_subject(subject), messages.clean_body(messages.floor_body(status, len(captured)))


def _field(holder: object, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _text_field(holder: object, name: str) -> str | None:
    value = _field(holder, name)
    return value if isinstance(value, str) and value.strip() else None


def _as_path(value: object) -> tuple[str, ...] | None:
    """Return *value* as a path if it is a sequence of strings; a string is none."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        return None
    return tuple(value) if all(isinstance(part, str) for part in value) else None


def _as_level(level: object) -> int | None:
    if level is None or (isinstance(level, int) and not isinstance(level, bool)):
        return level
    number = logging.getLevelNamesMapping().get(level.upper()) if isinstance(level, str) else None
    if number is None:
        raise ConfigurationError("log_level must be the name or the number of a logging level, or None")
    return number


def _parts(answer: object) -> tuple[Any, Any]:
    if isinstance(answer, (tuple, list)):
        return (answer[0], answer[1]) if len(answer) == 2 else (None, None)
    return _field(answer, "subject"), _field(answer, "body")
