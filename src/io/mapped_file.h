// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tare {

/// A file's bytes, mapped for reading for as long as the object lives.
class MappedFile {
 public:
  /// Throws kNotFound, or kIo for what cannot be mapped (a directory, a pipe).
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  MappedFile(const std::byte* data, std::size_t size) : data_(data), size_(size) {}

  const std::byte* data_;
  std::size_t size_;
};

/// A file's bytes as they are now. A map of a file that is written over in place would change, or
/// end the process. Throws as MappedFile::open does.
std::vector<std::byte> read_whole_file(const std::string& path);

}  // namespace tare
