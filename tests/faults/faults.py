# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tool with calls of the C library that fail (shim.c), and judges what came of it.

A run is *right* if it gives the bytes it gives without the fault, a *clean error* if it exits with a code from 1 to 6 and a message that names the
fault, and *wrong* otherwise: a signal, no end, other bytes, a part of a file, a file that nobody asked for.
"""
import collections
import errno
import mmap
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from harness import SANITIZED, TOOL, CliTest, main, with_quick_method  # noqa: F401  (the tests take them from here)

SHIM = os.environ.get("TARE_FAULT_SHIM", "")
FULL = os.environ.get("TARE_FAULTS", "") == "full"

# The same order as in shim.c.
KINDS = ("none", "alloc", "open", "read", "write", "sync", "link", "rename", "close", "map", "receive", "send", "accept", "wait",
         "thread", "real_time", "steady_time")
FIELDS = ("kind", "at", "span", "period", "value", "seed", "traced", "injected")
SHORT, PART = -1, -2  # instead of an errno: one byte, a random part

RIGHT, CLEAN, WRONG = "right", "clean error", "wrong"


class Control:
    """The shared memory that tells the shim what to fail, also while the program runs."""

    def __init__(self):
        self.file = tempfile.NamedTemporaryFile(prefix="tare-fault-")
        self.size = 8 * (len(FIELDS) + len(KINDS))
        self.file.write(bytes(self.size))
        self.file.flush()
        self.memory = mmap.mmap(self.file.fileno(), self.size)

    def close(self):
        self.memory.close()
        self.file.close()

    def _set(self, place, value):
        struct.pack_into("<q", self.memory, 8 * place, value)

    def _get(self, place):
        return struct.unpack_from("<q", self.memory, 8 * place)[0]

    def arm(self, kind, at, value=0, span=1, period=0, seed=1, traced=0):
        """The next calls of `kind` are counted from 1, and fail from number `at` on."""
        self._set(0, 0)
        for place in range(len(FIELDS), len(FIELDS) + len(KINDS)):
            self._set(place, 0)
        for name, number in zip(FIELDS[1:], (at, span, period, value, seed, traced, 0)):
            self._set(FIELDS.index(name), number)
        self._set(0, KINDS.index(kind))

    def disarm(self):
        self._set(0, 0)

    @property
    def injected(self):
        return self._get(FIELDS.index("injected"))

    def count(self, kind):
        return self._get(len(FIELDS) + KINDS.index(kind))

    def environment(self):
        return {"LD_PRELOAD": SHIM, "TARE_FAULT_FILE": self.file.name}


Fault = collections.namedtuple("Fault", "name kind value says options", defaults=((), {}))
"""A fault: `says` are texts of which a message must have one, `options` go to Control.arm."""

OUT_OF_MEMORY = Fault("allocation fails", "alloc", 0, ("memory",))


def failing(kind, number, **options):
    """A call that gives this errno."""
    return Fault(f"{kind}: {errno.errorcode[number]}", kind, number, (os.strerror(number),), options)


def short(kind, value=SHORT):
    """Every call of this kind moves a part of the bytes only; nobody should notice."""
    name = "one byte at a time" if value == SHORT else "random parts"
    return Fault(f"{kind}: {name}", kind, value, (), {"span": 0})


def places(count, most, seed):
    """Which of `count` calls to fail: all, or a sample. The first and the last are always among them."""
    if count <= most:
        return list(range(1, count + 1))
    rng = random.Random(seed)
    return sorted({1, count, *rng.sample(range(1, count + 1), most)})


class Tally:
    """Outcomes by fault and command, in the order in which they came."""

    def __init__(self):
        self.rows = {}
        self.faults = []  # what was wrong, in words

    def add(self, fault, command, outcome, detail="", stated=False):
        """Where `stated`, what is wrong is known (README.md): it is in the table and fails no test."""
        row = self.rows.setdefault((fault, command), collections.Counter())
        row[outcome] += 1
        if outcome == WRONG and not stated:
            self.faults.append(f"{fault}, {command}: {detail}")

    def lines(self):
        yield "| fault | command | injections | right | clean error | wrong |"
        yield "|---|---|---:|---:|---:|---:|"
        for (fault, command), row in self.rows.items():
            yield f"| {fault} | {command} | {sum(row.values()):,} | {row[RIGHT]:,} | {row[CLEAN]:,} | {row[WRONG]:,} |"


class FaultTest(CliTest):
    """A test whose class has one table of outcomes, printed at its end."""

    @classmethod
    def setUpClass(cls):
        cls.tally = Tally()

    @classmethod
    def tearDownClass(cls):
        print("\n".join(cls.tally.lines()), flush=True)

    def setUp(self):
        super().setUp()
        if not SHIM:
            self.skipTest("TARE_FAULT_SHIM names no library")
        self.control = Control()
        self.addCleanup(self.control.close)

    def some(self, few, many):
        """The number of injections in the quick form and in the full one."""
        return many if FULL else few

    def run_with(self, line, stdin=b"", timeout=60, limits=None, stdout=subprocess.PIPE):
        """Exit code (None: no end within the time), standard output and standard error under the armed fault."""
        try:
            done = subprocess.run([TOOL, *map(str, line)], input=stdin, stdout=stdout, stderr=subprocess.PIPE, cwd=self.folder,
                                  env={**os.environ, **self.control.environment()}, timeout=timeout, check=False,
                                  preexec_fn=limits)
        except subprocess.TimeoutExpired:
            return None, b"", ""
        return done.returncode, done.stdout or b"", done.stderr.decode(errors="replace")

    def restore(self, files):
        """Puts the folder back to an earlier snapshot."""
        for name, content in self.snapshot().items():
            if name not in files and content is not None:
                os.remove(self.path(name))
        for name, content in files.items():
            if content is None:
                os.makedirs(self.path(name), exist_ok=True)
            else:
                self.write(name, content)

    def same_text(self, text):
        """Standard output without what no two runs share."""
        return text

    def judge(self, fault, result, before, whole, output):
        """Outcome, and what is wrong in words."""
        code, out, err = result
        out = self.same_text(out)
        after = self.snapshot()
        if code is None:
            return WRONG, "no end"
        if code < 0 or code > 6:
            return WRONG, f"exit {code}: {err[-300:]}"
        if code == 0:
            if out != output:
                return WRONG, "exit 0 with other bytes on standard output"
            if after != whole:
                return WRONG, f"exit 0 with other files: {changed(whole, after)}"
            return RIGHT, ""
        if not self.is_sound(after, before, whole):
            return WRONG, f"exit {code} and files changed: {changed(before, after)}"
        if not output.startswith(out):
            return WRONG, f"exit {code} and wrong bytes on standard output"
        # XGBoost's OpenMP library ends the process itself.
        if not any(text.startswith(("error: ", "libgomp: Out of memory")) for text in err.splitlines()):
            return WRONG, f"exit {code} without a message: {err[-300:]}"
        if not any(text in err for text in fault.says):
            return WRONG, f"exit {code} with a message about something else: {err[-300:]}"
        return CLEAN, ""

    def is_sound(self, after, before, whole):
        """Whether these files may be there after an error: the old ones or the new ones."""
        return after in (before, whole)

    def sweep(self, fault, command, line, most, seed=1, stdin=b"", timeout=60):
        """Fails each call in turn, or a sample of `most`, and adds what came of it to the table."""
        line = with_quick_method(line)
        before = self.snapshot()
        self.control.arm(fault.kind, 0)
        code, output, err = self.run_with(line, stdin, timeout)
        self.assertEqual(code, 0, err)
        output = self.same_text(output)
        whole = self.snapshot()
        count = self.control.count(fault.kind)
        for at in places(count, most, seed):
            self.restore(before)
            self.control.arm(fault.kind, at, fault.value, seed=at, **fault.options)
            outcome, detail = self.judge(fault, self.run_with(line, stdin, timeout), before, whole, output)
            in_xgboost = "nrc_rf" in command and "terminate called without an active exception" in detail
            self.tally.add(fault.name, command, outcome, f"call {at} of {count}: {detail}", stated=in_xgboost)
        self.restore(before)
        return count

    def nothing_wrong(self):
        self.assertFalse(self.tally.faults, "\n" + "\n".join(self.tally.faults))


def changed(before, after):
    names = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    return ", ".join(f"{name} ({'gone' if name not in after else len(after[name] or b'')} bytes)" for name in names)
