// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/fail.h"
#include "io/files/byte_source.h"

namespace tare {
namespace {

constexpr std::size_t kStartBytes = std::size_t{1} << 16;

/// Closes a file at the end of a scope.
struct OpenFile {
  int number;
  ~OpenFile() {
    if (number >= 0) ::close(number);
  }
};

/// A regular file, and not one that opening waits for, such as a pipe.
int open_regular(const std::string& path, std::size_t& size) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      fail(ErrorCode::kNotFound, {.source = path}, "no such file");
    fail(ErrorCode::kIo, {.source = path}, "cannot be opened: {}", std::strerror(errno));
  }
  struct stat status {};
  const bool known = ::fstat(file, &status) == 0;
  if (known && S_ISREG(status.st_mode)) {
    size = static_cast<std::size_t>(status.st_size);
    return file;
  }
  ::close(file);
  if (known && S_ISDIR(status.st_mode)) {
    fail(ErrorCode::kBadData, {.source = path}, "a directory, not a file");
  }
  fail(ErrorCode::kIo, {.source = path, .remedies = {advice("copy it to a file first")}},
       "is not a regular file");
}

/// A sparse file may claim any size; filling memory with it would end the process.
void check_fits_memory(const std::string& path, std::size_t size) {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return;
  if (size / static_cast<std::size_t>(page) < static_cast<std::size_t>(pages)) return;
  fail(ErrorCode::kIo, {.source = path}, "has {} bytes, more than the memory of this machine",
       size);
}

/// Reads until `bytes` are full; where the file ends before, they become shorter.
void read_on(const std::string& path, int file, std::vector<std::byte>& bytes, std::size_t have) {
  while (have < bytes.size()) {
    const auto got = ::read(file, bytes.data() + have, bytes.size() - have);
    if (got == 0) break;  // it became shorter meanwhile: its checksum will tell
    if (got < 0 && errno != EINTR) {
      fail(ErrorCode::kIo, {.source = path}, "cannot be read: {}", std::strerror(errno));
    }
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
}

}  // namespace

std::vector<std::byte> read_whole_file(const std::string& path, const WorthReading& worth_reading) {
  std::size_t size = 0;
  const OpenFile file{open_regular(path, size)};
  std::vector<std::byte> bytes;
  if (worth_reading) {
    bytes.resize(std::min(size, kStartBytes));
    read_on(path, file.number, bytes, 0);
    if (!worth_reading(bytes)) return bytes;
  }
  check_fits_memory(path, size);
  const std::size_t have = bytes.size();
  if (have < size) {
    bytes.resize(size);
    read_on(path, file.number, bytes, have);
  }
  return bytes;
}

std::string read_text_file(const std::string& path) {
  const std::unique_ptr<ByteSource> source = open_bytes(path);
  std::string text;
  std::string block(kStartBytes, '\0');
  while (const std::size_t count = source->read(block.data(), block.size())) {
    text += std::string_view(block).substr(0, count);
    if (text.size() > kLongestText) {
      fail(ErrorCode::kBadData, {.source = path}, "has more than {} MiB", kLongestText >> 20);
    }
  }
  return text;
}

}  // namespace tare
