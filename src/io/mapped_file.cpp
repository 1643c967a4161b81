// SPDX-License-Identifier: BSD-3-Clause
#include "io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fail.h"

namespace tare {

namespace {

/// Closes a file at the end of a scope.
struct OpenFile {
  int number;
  ~OpenFile() {
    if (number >= 0) ::close(number);
  }
};

/// A regular file, and not one that opening waits for, such as a pipe.
int open_regular(const std::string& path, std::size_t& size) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
  fail(ErrorCode::kIo, {.source = path}, "is not a regular file");
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  std::size_t size = 0;
  const OpenFile file{open_regular(path, size)};
  void* address = nullptr;
  if (size > 0) {  // mmap refuses a length of zero
    address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  }
  if (address == MAP_FAILED) {
    fail(ErrorCode::kIo, {.source = path}, "cannot be mapped: {}", std::strerror(errno));
  }
  return std::shared_ptr<const MappedFile>(
      new MappedFile(static_cast<const std::byte*>(address), size));
}

MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(const_cast<std::byte*>(data_), size_);
}

std::vector<std::byte> read_whole_file(const std::string& path) {
  std::size_t size = 0;
  const OpenFile file{open_regular(path, size)};
  std::vector<std::byte> bytes(size);
  std::size_t have = 0;
  while (have < bytes.size()) {
    const auto got = ::read(file.number, bytes.data() + have, bytes.size() - have);
    if (got == 0) break;  // it became shorter meanwhile: its checksum will tell
    if (got < 0 && errno != EINTR) {
      fail(ErrorCode::kIo, {.source = path}, "cannot be read: {}", std::strerror(errno));
    }
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace tare
