// SPDX-License-Identifier: BSD-3-Clause
#include "serve/model/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fail.h"

namespace tare::serve {
namespace {

/// Closes a file at the end of a scope.
struct OpenFile {
  int number;
  ~OpenFile() {
    if (number >= 0) ::close(number);
  }
};

int open_model(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file >= 0) return file;
  if (errno == ENOENT || errno == ENOTDIR) fail(ErrorCode::kNotFound, "{}: no such file", path);
  fail(ErrorCode::kIo, "{}: cannot be opened: {}", path, std::strerror(errno));
}

std::size_t size_of(int file, const std::string& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) {
    fail(ErrorCode::kIo, "{}: cannot be read: {}", path, std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) fail(ErrorCode::kBadData, "{}: a directory, not a file", path);
  if (!S_ISREG(status.st_mode)) fail(ErrorCode::kIo, "{}: is not a regular file", path);
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace

std::vector<std::byte> read_whole_file(const std::string& path) {
  const OpenFile file{open_model(path)};
  std::vector<std::byte> bytes(size_of(file.number, path));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const auto got = ::read(file.number, bytes.data() + have, bytes.size() - have);
    if (got == 0) break;  // it became shorter meanwhile: its checksum will tell
    if (got < 0 && errno != EINTR) {
      fail(ErrorCode::kIo, "{}: cannot be read: {}", path, std::strerror(errno));
    }
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace tare::serve
