// SPDX-License-Identifier: BSD-3-Clause
#include "serve/model/private_copy.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
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

void check_kind(int file, const std::string& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) {
    fail(ErrorCode::kIo, "{}: cannot be read: {}", path, std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) fail(ErrorCode::kBadData, "{}: a directory, not a file", path);
  if (!S_ISREG(status.st_mode)) fail(ErrorCode::kIo, "{}: is not a regular file", path);
}

}  // namespace

PrivateCopy::PrivateCopy(const std::string& path) {
  const OpenFile from{open_model(path)};
  check_kind(from.number, path);
  OpenFile to{::memfd_create("tare-model", MFD_CLOEXEC)};
  if (to.number < 0)
    fail(ErrorCode::kIo, "{}: no memory for a copy: {}", path, std::strerror(errno));
  constexpr std::size_t kAtOnce = std::size_t{1} << 26;
  for (;;) {
    const auto sent = ::sendfile(to.number, from.number, nullptr, kAtOnce);
    if (sent == 0) break;
    if (sent < 0 && errno != EINTR) {
      fail(ErrorCode::kIo, "{}: cannot be read: {}", path, std::strerror(errno));
    }
  }
  file_ = to.number;
  to.number = -1;
  path_ = fmt::format("/proc/self/fd/{}", file_);
}

PrivateCopy::~PrivateCopy() { ::close(file_); }

}  // namespace tare::serve
