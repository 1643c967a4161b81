// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tare::serve {

/// A file's bytes as they are now, in memory that nobody else writes to, under a path by which they
/// can be opened. A model file is mapped, and a map of a file that is written over in place would
/// change, or end the process.
class PrivateCopy {
 public:
  /// Throws kNotFound, kBadData for a directory, kIo.
  explicit PrivateCopy(const std::string& path);
  ~PrivateCopy();
  PrivateCopy(const PrivateCopy&) = delete;
  PrivateCopy& operator=(const PrivateCopy&) = delete;

  /// Good as long as this object is; what was mapped from it stays.
  const std::string& path() const noexcept { return path_; }

 private:
  int file_ = -1;
  std::string path_;
};

}  // namespace tare::serve
