// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tare {

/// A sequential source of bytes. Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// What messages call it: the path, or "<stdin>".
  virtual const std::string& name() const noexcept = 0;

  /// Writes at most `room` bytes (room > 0) to `to` and returns how many; 0 only at the end.
  /// Throws kIo when the system refuses and kCorruptFile when compressed data are damaged or cut
  /// short.
  virtual std::size_t read(char* to, std::size_t room) = 0;

  /// The total number of bytes if it is known, else 0. A hint: a file may still grow.
  virtual std::uint64_t size_hint() const noexcept { return 0; }
};

/// Opens a file, or standard input for "-". Data that start with gzip's magic number are
/// decompressed, all members of them, whatever the file is called. Throws kNotFound, kBadData for a
/// directory, kIo.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);

/// Bytes that are in memory already, under a name for messages.
std::unique_ptr<ByteSource> bytes_in_memory(std::string name, std::string bytes);

}  // namespace tare
