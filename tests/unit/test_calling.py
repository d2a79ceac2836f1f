"""Calling what a user supplies: plain or async, bounded in time, in the caller's context."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from oort_flows.calling import call, in_thread

marker: contextvars.ContextVar[str] = contextvars.ContextVar("marker", default="none")


def seen() -> str:
    return marker.get()


async def aseen() -> str:
    return marker.get()


@pytest.mark.parametrize("timeout", [None, 30.0])
@pytest.mark.parametrize("function", [seen, aseen])
def test_a_callable_sees_the_context_of_its_caller(function: object, timeout: float | None) -> None:
    """Plain or async, bounded or not, the callable reads the caller's context variables."""
    token = marker.set("mine")
    try:
        assert call(function, timeout=timeout) == "mine"  # type: ignore[arg-type]
    finally:
        marker.reset(token)


def test_an_async_callable_runs_under_a_running_loop() -> None:
    """A caller inside of a loop gets the answer, where asyncio.run would refuse."""

    async def outer() -> str:
        marker.set("loop")
        return str(call(aseen))

    assert asyncio.run(outer()) == "loop"


def test_an_async_callable_may_call_back_into_another() -> None:
    """A callable on our loop that itself calls an async one does not wait for itself."""

    async def outer() -> str:
        return str(call(aseen))

    assert call(outer) == "none"


def test_async_callables_share_one_loop() -> None:
    """A connection made in one call works in the next, since the loop is the same (case G10)."""

    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    with ThreadPoolExecutor(4) as pool:
        assert len({id(future.result()) for future in [pool.submit(call, loop) for _ in range(8)]}) == 1


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_a_callable_that_never_returns_is_left_behind(kind: str) -> None:
    """The caller gets a TimeoutError when its time is over; an async callable is cancelled as well."""
    release, cancelled = threading.Event(), threading.Event()

    async def hangs() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    with pytest.raises(TimeoutError):
        call(release.wait if kind == "plain" else hangs, timeout=0.05)
    release.set()
    assert kind == "plain" or cancelled.wait(30)


@pytest.mark.parametrize("timeout", [None, 30.0])
def test_what_a_callable_raises_comes_out_unchanged(timeout: float | None) -> None:
    """The very same exception object reaches the caller."""
    error = ValueError("mine")

    def fails() -> None:
        raise error

    async def afails() -> None:
        raise error

    for function in (fails, afails):
        with pytest.raises(ValueError, match="mine") as caught:
            call(function, timeout=timeout)
        assert caught.value is error


def test_work_in_a_thread_leaves_the_loop_free() -> None:
    """While a blocking call runs in a thread, the loop goes on."""

    async def main() -> str:
        marker.set("thread")
        free = threading.Event()
        work = asyncio.ensure_future(in_thread(lambda: (free.wait(30), marker.get())[1]))
        await asyncio.sleep(0)
        free.set()
        return str(await work)

    assert asyncio.run(main()) == "thread"


@pytest.mark.parametrize("timeout", [None, 30])
@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError])
def test_an_interrupt_in_an_async_callable_reaches_the_caller(interrupt: type[BaseException], timeout: float | None) -> None:
    """It comes out as what it is, and the loop goes on serving others."""

    async def interrupted() -> None:
        raise interrupt

    async def answer() -> int:
        return 1

    with pytest.raises(interrupt):
        call(interrupted, timeout=timeout)
    assert call(answer, timeout=30) == 1
