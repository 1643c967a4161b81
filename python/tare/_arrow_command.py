# SPDX-License-Identifier: BSD-3-Clause
"""Parquet, Feather and Arrow streams for the command ``tare``.

The program reads and writes CSV. Here the rows of a file go through its standard input, some at a time, and its answers from its standard output
into a file: memory does not grow with the number of rows. It imports nothing of the package, so that the command starts without NumPy.
"""

from __future__ import annotations

import contextlib
import csv
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from typing import Any

_PARQUET = (".parquet", ".pq")
_FILES = (".feather", ".arrow", ".ipc")
_STREAMS = (".arrows",)
SUFFIXES = _PARQUET + _FILES + _STREAMS
_ROWS = 65_536  # at a time
_TEXT = 8 << 20  # bytes of answers at a time
_GROUP_ROWS = 1 << 20  # of a row group that is written
_WITH_OUTPUT = ("predict", "track")  # commands that write rows
_USAGE, _NOT_FOUND, _BAD_DATA, _NOT_THERE = 2, 3, 4, 5  # exit codes of the program


class _Problem(Exception):
    """A message for the user, and the exit code."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def is_for_us(arguments: Sequence[str]) -> bool:
    """Whether an argument names a file of these formats."""
    return any(_value(argument).lower().endswith(SUFFIXES) for argument in arguments)


def _value(argument: str) -> str:
    return argument.partition("=")[2] if argument.startswith("--") and "=" in argument else argument


def run(program: str, arguments: Sequence[str]) -> int:
    """What the command does with these arguments; the exit code."""
    try:
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            named = next(_value(argument) for argument in arguments if is_for_us([argument]))
            raise _Problem(_NOT_THERE, f"{named}: reading and writing this format needs pyarrow: pip install pyarrow") from None
        with contextlib.ExitStack() as stack:
            return _Job(arguments, stack).run(program)
    except _Problem as problem:
        print(f"error: {problem}", file=sys.stderr)
        return problem.code
    except BrokenPipeError:
        return 1


class _Job:
    """Which files go in and out, and the arguments of the program."""

    def __init__(self, arguments: Sequence[str], stack: contextlib.ExitStack) -> None:
        self.source: str | None = None  # goes through standard input
        self.output: str | None = None
        self.force = "--force" in arguments
        self.arguments: list[str] = []
        command = next((argument for argument in arguments if not argument.startswith("-")), "")
        is_output = False
        for argument in arguments:
            value = _value(argument)
            option = argument[: len(argument) - len(value)]  # "--name=", or nothing
            output_now = is_output or option in ("--output=", "-o=")
            is_output = argument in ("-o", "--output")
            if not value.lower().endswith(SUFFIXES):
                self.arguments.append(argument)
            elif output_now:
                if command not in _WITH_OUTPUT:
                    raise _Problem(_USAGE, f"{value}: 'tare {command}' does not write rows; only predict and track write this format")
                if "--json" in arguments:
                    raise _Problem(_USAGE, f"{value}: --json and this format exclude each other")
                self.output = value
                self.arguments.append(option + "-")
            elif self.source is None and not option and "-" not in arguments:
                self.source = value
                self.arguments.append("-")
            else:  # one more input: as a file that the program can read
                self.arguments.append(option + _as_csv_file(value, stack))
        if self.output is not None and os.path.exists(self.output) and not self.force:
            raise _Problem(_USAGE, f"{self.output}: exists already (use --force to replace it)")
        self.input = None if self.source is None else _Input(self.source)

    def run(self, program: str) -> int:
        process = subprocess.Popen(
            ["tare", *self.arguments],
            executable=program,
            stdin=None if self.input is None else subprocess.PIPE,
            stdout=None if self.output is None else subprocess.PIPE,
            stderr=None if self.input is None else subprocess.PIPE,
        )
        threads = []
        failures: list[Exception] = []
        if self.input is not None:
            threads.append(threading.Thread(target=_feed, args=(self.input, process.stdin, failures)))
            threads.append(threading.Thread(target=_pass_on, args=(process.stderr, self.source)))
        for thread in threads:
            thread.start()
        try:
            if self.output is not None:
                with _Output(self.output, self.input) as output:
                    output.write(process.stdout)
                    code = _ended(process, threads, failures)
                    output.keep = code == 0
                return code
            return _ended(process, threads, failures)
        except BaseException:
            process.kill()
            process.wait()
            raise


def _ended(process: Any, threads: Sequence[threading.Thread], failures: Sequence[Exception]) -> int:
    code = process.wait()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return int(code) if code >= 0 else 1


def _pass_on(stream: Any, source: str | None) -> None:
    """Messages of the program, with the file and its row in place of standard input and its line."""
    for line in stream:
        text = re.sub(r"<stdin>:(\d+):", lambda found: f"{source}: row {int(found[1]) - 1}:", line.decode(errors="replace"))
        if sys.stderr is not None:  # as it is where the caller has closed it
            sys.stderr.write(text.replace("<stdin>", str(source)))
            sys.stderr.flush()


def _feed(source: _Input, stream: Any, failures: list[Exception]) -> None:
    try:
        source.write_csv(stream)
    except BrokenPipeError:
        pass  # the program has said why it ended
    except Exception as error:
        failures.append(error if isinstance(error, _Problem) else _Problem(_BAD_DATA, f"{source.path}: {error}"))
    finally:
        with contextlib.suppress(BrokenPipeError):
            stream.close()


def _as_csv_file(path: str, stack: contextlib.ExitStack) -> str:
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tare-"))
    target = os.path.join(folder, os.path.basename(path) + ".csv")
    with open(target, "wb") as file:
        _Input(path).write_csv(file)
    return target


class _Input:
    """A file of columns, read some rows at a time."""

    def __init__(self, path: str) -> None:
        import pyarrow as pa
        import pyarrow.ipc
        import pyarrow.parquet

        self.path = path
        kind = path.lower()
        try:
            if kind.endswith(_PARQUET):
                self._file: Any = pa.parquet.ParquetFile(path, pre_buffer=False)
                self.schema = self._file.schema_arrow
            elif kind.endswith(_FILES):
                self._file = pa.ipc.open_file(pa.memory_map(path))
                self.schema = self._file.schema
            else:
                self._file = pa.ipc.open_stream(pa.OSFile(path))
                self.schema = self._file.schema
        except FileNotFoundError:
            raise _Problem(_NOT_FOUND, f"{path}: no such file") from None
        except (OSError, pa.ArrowInvalid) as error:
            raise _Problem(_BAD_DATA, f"{path}: not a file of this format, or damaged: {error}") from None

    def _batches(self) -> Iterator[Any]:
        if hasattr(self._file, "iter_batches"):
            yield from self._file.iter_batches(batch_size=_ROWS)
            return
        count = getattr(self._file, "num_record_batches", None)
        batches = self._file if count is None else (self._file.get_batch(k) for k in range(count))
        for batch in batches:
            for first in range(0, batch.num_rows, _ROWS):
                yield batch.slice(first, _ROWS)

    def write_csv(self, stream: Any) -> None:
        import pyarrow as pa
        import pyarrow.csv

        names = self.schema.names
        if len(set(names)) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise _Problem(_BAD_DATA, f"{self.path}: two columns are named '{twice}'")
        fields = [pa.field(field.name, _csv_type(field, self.path)) for field in self.schema]
        schema = pa.schema(fields)
        with pa.csv.CSVWriter(pa.PythonFile(stream, mode="w"), schema) as writer:
            for batch in self._batches():
                arrays = [_plain(column, field.type) for column, field in zip(batch.columns, fields)]
                writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))


def _csv_type(field: Any, path: str) -> Any:
    """How a column is written: numbers as numbers, booleans as 0 and 1, texts, dates and times as texts."""
    import pyarrow as pa
    import pyarrow.types as types

    kind = field.type.value_type if types.is_dictionary(field.type) else field.type
    if types.is_boolean(kind):
        return pa.int8()
    if types.is_decimal(kind) or types.is_float16(kind):
        return pa.float64()
    if types.is_null(kind):
        return pa.string()
    if types.is_integer(kind) or types.is_floating(kind):
        return kind
    if types.is_string(kind) or types.is_large_string(kind) or types.is_temporal(kind) or str(kind) == "string_view":
        return pa.string()
    raise _Problem(
        _BAD_DATA, f"{path}: column '{field.name}' has the type {field.type}, which is no number and no text; leave it out of the file"
    )


def _plain(column: Any, kind: Any) -> Any:
    import pyarrow.types as types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column if column.type == kind else column.cast(kind)


class _Output:
    """A file that is there completely or not at all. Answers are numbers; columns that were kept have the types of the input."""

    def __init__(self, path: str, source: _Input | None) -> None:
        self.path = path
        self.keep = False
        self._types = {} if source is None else {field.name: field.type for field in source.schema}
        folder = os.path.dirname(os.path.abspath(path))
        try:
            handle, self._partial = tempfile.mkstemp(dir=folder, prefix=".tare-")
        except OSError as error:
            raise _Problem(_NOT_FOUND, f"{path}: cannot be written: {error.strerror}") from None
        os.close(handle)
        self._writer: Any = None

    def __enter__(self) -> _Output:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if self._writer is not None:
            self._writer.close()
        if self.keep and kind is None:
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(self._partial, 0o666 & ~umask)
            os.replace(self._partial, self.path)
        else:
            os.unlink(self._partial)

    def write(self, stream: Any) -> None:
        import pyarrow as pa
        import pyarrow.csv

        header = stream.readline()
        if not header:
            return  # the program has said why
        names = next(csv.reader([header.decode()]))
        schema = pa.schema([pa.field(name, self._types.get(name, pa.float64())) for name in names])
        options = pa.csv.ConvertOptions(
            column_types={name: pa.string() if name in self._types else pa.float64() for name in names},
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        self._open(schema)
        waiting: list[Any] = []
        for text in _whole_rows(stream):
            table = pa.csv.read_csv(
                pa.BufferReader(text),
                read_options=pa.csv.ReadOptions(column_names=names),
                parse_options=pa.csv.ParseOptions(newlines_in_values=True),
                convert_options=options,
            )
            waiting.append(table.cast(schema))
            if sum(part.num_rows for part in waiting) >= _GROUP_ROWS:
                self._write(waiting)
                waiting = []
        if waiting:
            self._write(waiting)

    def _open(self, schema: Any) -> None:
        import pyarrow as pa
        import pyarrow.ipc
        import pyarrow.parquet

        kind = self.path.lower()
        if kind.endswith(_PARQUET):
            self._writer = pa.parquet.ParquetWriter(self._partial, schema)
        elif kind.endswith(_FILES):
            self._writer = pa.ipc.new_file(self._partial, schema)
        else:
            self._writer = pa.ipc.new_stream(self._partial, schema)

    def _write(self, tables: Sequence[Any]) -> None:
        import pyarrow as pa

        table = pa.concat_tables(tables)
        if self.path.lower().endswith(_PARQUET):
            self._writer.write_table(table, row_group_size=_GROUP_ROWS)
        else:
            self._writer.write_table(table)


def _whole_rows(stream: Any) -> Iterator[bytes]:
    """The text in pieces that end with a row: at a line's end with an even number of quotes before it."""
    rest = b""
    while piece := stream.read(_TEXT):
        text = rest + piece
        end = text.rfind(b"\n") + 1
        while end > 0 and text.count(b'"', 0, end) % 2 == 1:
            end = text.rfind(b"\n", 0, text.rfind(b'"', 0, end)) + 1
        rest = text[end:]
        if end > 0:
            yield text[:end]
    if rest:
        yield rest
