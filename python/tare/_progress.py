# SPDX-License-Identifier: BSD-3-Clause
"""A progress line on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ._types import Progress


class Bar:
    """Called with a stage and the share of it that is done."""

    WIDTH = 24

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._shown = 0

    def __call__(self, stage: str, share: float) -> None:
        filled = int(self.WIDTH * min(max(share, 0.0), 1.0))
        text = f"tare |{'#' * filled}{'.' * (self.WIDTH - filled)}| {100 * share:3.0f} % {time.monotonic() - self._start:.0f} s {stage}"
        sys.stderr.write("\r" + text.ljust(self._shown))
        sys.stderr.flush()
        self._shown = len(text)

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()


@contextmanager
def progress_for(verbose: int, callback: Progress | None) -> Iterator[Progress | None]:
    """What a long computation calls: the user's callback, or a bar that is removed at the end."""
    if callback is not None or not verbose:
        yield callback
        return
    bar = Bar()
    try:
        yield bar
    finally:
        bar.close()
