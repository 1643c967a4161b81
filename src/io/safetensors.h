// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "io/atomic_file.h"
#include "io/tensor_store.h"

namespace tare {

/// The version of the layout below that this build writes; it reads this one and older ones.
inline constexpr int kFormatVersion = 1;

/// Writes a store as a safetensors file: 8 bytes of header length, a JSON header, the tensors'
/// bytes. Values go into the header's "__metadata__" as JSON text beside three keys of the file
/// itself: "format" ("tare"), "format_version", and "checksum", a CRC-32 of the header (with the
/// checksum's digits as zeros) and the payload. The bytes depend on the store alone.
void write_safetensors(const std::string& path, const TensorStore& store, Overwrite overwrite);

/// Maps a file that write_safetensors made. Tensors point into the mapping and keep it alive.
/// kNotFound no such file; kCorruptFile not a tare file, truncated, a byte changed, or from a newer
/// format.
TensorStore read_safetensors(const std::string& path);

}  // namespace tare
