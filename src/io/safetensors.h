// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/files/atomic_file.h"
#include "io/tensor_store.h"

namespace tare {

/// The version of the layout below that this build writes; it reads this one and older ones.
inline constexpr int kFormatVersion = 1;

/// The longest header that is written and read. A schema takes about 150 bytes for each column of
/// numbers, so this is enough for 400,000 columns; memory for a header grows with its length (see
/// docs/model-file.md), so that a length of its own bounds what a hostile file takes.
inline constexpr std::size_t kMostHeaderBytes = std::size_t{64} << 20;

/// Writes a store as a safetensors file: 8 bytes of header length, a JSON header, the tensors'
/// bytes. Values go into the header's "__metadata__" as JSON text beside three keys of the file
/// itself: "format" ("tare"), "format_version", and "checksum", a CRC-32 of the header (with the
/// checksum's digits as zeros) and the payload. The bytes depend on the store alone.
void write_safetensors(const std::string& path, const TensorStore& store, Overwrite overwrite);

/// The bytes of such a file.
std::vector<std::byte> safetensors_bytes(const TensorStore& store);

/// Reads a file that write_safetensors made. Tensors point into its bytes, which are a copy in
/// memory: what happens to the file afterwards does not matter.
/// What read_whole_file throws; kCorruptFile not a tare file, truncated, a byte changed, or from a
/// newer format.
TensorStore read_safetensors(const std::string& path);
/// The same for bytes that `owner` keeps alive, aligned as doubles are; `name` is for messages.
TensorStore read_safetensors(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                             const std::string& name);

/// The eight digits of the checksum that the bytes of such a file state; "unknown" where they state
/// none.
std::string stated_checksum(std::span<const std::byte> bytes);

/// The bytes of such a file with the checksum that fits them; bytes that have no place for it come
/// back as they are. For tests and fuzzers that change a file and want it read all the same.
std::vector<std::byte> with_right_checksum(std::vector<std::byte> bytes);

}  // namespace tare
