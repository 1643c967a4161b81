// SPDX-License-Identifier: BSD-3-Clause
#include "io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/fail.h"

namespace tare {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string hidden_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return fmt::format("{}/.{}.{}.part", folder_of(path), name, ::getpid());
}

}  // namespace

AtomicFile::AtomicFile(std::string path, Overwrite overwrite)
    : path_(std::move(path)), overwrite_(overwrite) {
  if (path_ == "-") {
    direct_ = true;
    file_ = ::dup(STDOUT_FILENO);
    if (file_ < 0) fail_io(errno);
    return;
  }

  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    fail(ErrorCode::kInvalidArgument, {.source = path_}, "is a folder; name a file in it");
  }
  if (exists && !S_ISREG(status.st_mode)) {
    direct_ = true;
    file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) fail_io(errno);
    return;
  }
  if (exists && overwrite_ == Overwrite::kRefuse) fail_exists();

  const std::string folder = folder_of(path_);
  file_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (file_ >= 0) return;
  if (errno == ENOENT)
    fail(ErrorCode::kNotFound, {.source = path_}, "the folder '{}' does not exist", folder);
  hidden_path_ = hidden_name(path_);
  file_ = ::open(hidden_path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (file_ < 0) {
    hidden_path_.clear();
    fail_io(errno);
  }
}

AtomicFile::~AtomicFile() {
  if (file_ >= 0) ::close(file_);
  if (!hidden_path_.empty()) ::unlink(hidden_path_.c_str());
}

void AtomicFile::fail_io(int error) const {
  fail(ErrorCode::kIo, {.source = path_ == "-" ? "standard output" : path_},
       "cannot be written: {}", std::strerror(error));
}

void AtomicFile::fail_exists() const {
  fail(ErrorCode::kInvalidArgument,
       {.source = path_, .remedies = {use("force", "", "to replace it")}}, "exists already");
}

void AtomicFile::close_file() {
  if (::close(std::exchange(file_, -1)) != 0) fail_io(errno);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      fail_io(errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  if (direct_) return close_file();
  // On the disk before it has the name: a power cut must not leave the name on an empty file.
  if (::fsync(file_) != 0) fail_io(errno);
  if (hidden_path_.empty()) {
    const std::string self = fmt::format("/proc/self/fd/{}", file_);
    const auto link_to = [&](const std::string& name) {
      return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    };
    if (link_to(path_)) return close_file();
    if (errno != EEXIST) fail_io(errno);
    if (overwrite_ == Overwrite::kRefuse) fail_exists();
    // A nameless file cannot be linked over an existing name: it gets a hidden one for the moment
    // until the rename.
    const std::string hidden = hidden_name(path_);
    ::unlink(hidden.c_str());
    if (!link_to(hidden)) fail_io(errno);
    hidden_path_ = hidden;
  }
  if (overwrite_ == Overwrite::kRefuse) {
    // link fails where the name has appeared in the meantime; rename would replace it silently.
    if (::link(hidden_path_.c_str(), path_.c_str()) != 0) {
      if (errno == EEXIST) fail_exists();
      fail_io(errno);
    }
    return close_file();  // the destructor removes the hidden name
  }
  if (::rename(hidden_path_.c_str(), path_.c_str()) != 0) fail_io(errno);
  hidden_path_.clear();
  close_file();
}

}  // namespace tare
