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

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      fail(ErrorCode::kNotFound, {.source = path}, "no such file");
    fail(ErrorCode::kIo, {.source = path}, "cannot be opened: {}", std::strerror(errno));
  }
  struct stat status {};
  const bool known = ::fstat(file, &status) == 0;
  if (known && S_ISDIR(status.st_mode)) {
    ::close(file);
    fail(ErrorCode::kBadData, {.source = path}, "a directory, not a file");
  }
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(file);
    fail(ErrorCode::kIo, {.source = path}, "is not a regular file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* address = nullptr;
  if (size > 0) {  // mmap refuses a length of zero
    address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  }
  const int error = errno;
  ::close(file);
  if (address == MAP_FAILED) {
    fail(ErrorCode::kIo, {.source = path}, "cannot be mapped: {}", std::strerror(error));
  }
  return std::shared_ptr<const MappedFile>(
      new MappedFile(static_cast<const std::byte*>(address), size));
}

MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace tare
