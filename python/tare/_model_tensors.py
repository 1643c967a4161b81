# SPDX-License-Identifier: BSD-3-Clause
"""Values and tensors of a model file (docs/model-file.md), for models that are put together from parts."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_TYPES = {"F64": np.float64, "F32": np.float32, "I64": np.int64, "I32": np.int32, "U8": np.uint8, "U32": np.uint32, "U64": np.uint64}
_NAMES = {np.dtype(kind): name for name, kind in _TYPES.items()}


@dataclass
class ModelTensors:
    """`values` are those named tare.NAME, parsed; `tensors` are arrays. Loading checks everything again."""

    values: dict[str, Any]
    tensors: dict[str, npt.NDArray[Any]]

    @classmethod
    def read(cls, content: bytes) -> ModelTensors:
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + length])
        metadata = header.pop("__metadata__")
        tensors = {}
        for name, entry in header.items():
            first, last = entry["data_offsets"]
            kind = _TYPES[entry["dtype"]]
            tensors[name] = np.frombuffer(content[8 + length + first : 8 + length + last], dtype=kind).reshape(entry["shape"])
        values = {name[5:]: json.loads(text) for name, text in metadata.items() if name.startswith("tare.")}
        return cls(values, tensors)

    def to_bytes(self) -> bytes:
        order = sorted(self.tensors, key=lambda name: (-self.tensors[name].dtype.itemsize, name))
        metadata = {"format": "tare", "format_version": "1", "checksum": "0" * 8}
        metadata.update({f"tare.{name}": json.dumps(value) for name, value in self.values.items()})
        header: dict[str, Any] = {"__metadata__": metadata}
        first = 0
        for name in order:
            tensor = self.tensors[name]
            header[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [first, first + tensor.nbytes]}
            first += tensor.nbytes
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        payload = b"".join(np.ascontiguousarray(self.tensors[name]).tobytes() for name in order)
        checksum = f"{zlib.crc32(payload, zlib.crc32(text)):08x}".encode()
        at = text.index(b'"checksum":"') + len(b'"checksum":"')
        text = text[:at] + checksum + text[at + 8 :]
        return len(text).to_bytes(8, "little") + text + payload
