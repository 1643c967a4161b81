// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "input.h"

namespace tare::fuzz {

/// A file with a path, in memory where the system has a folder for that.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes = {}) {
    path_ = (::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + std::string("/fuzz-XXXXXX");
    file_ = ::mkstemp(path_.data());
    require(file_ >= 0, "a file can be made");
    require(::write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "the file is written");
  }
  ~MemoryFile() {
    ::close(file_);
    ::unlink(path_.c_str());
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return static_cast<std::uint64_t>(::lseek(file_, 0, SEEK_END)); }
  void flip(std::uint64_t at, unsigned char bits) {
    char byte = 0;
    require(::pread(file_, &byte, 1, static_cast<off_t>(at)) == 1, "a byte is read");
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ bits);
    require(::pwrite(file_, &byte, 1, static_cast<off_t>(at)) == 1, "a byte is written");
  }
  void cut(std::uint64_t size) {
    require(::ftruncate(file_, static_cast<off_t>(size)) == 0, "the file is cut");
  }

 private:
  std::string path_;
  int file_ = -1;
};

}  // namespace tare::fuzz
