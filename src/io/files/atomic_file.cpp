// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>

#include "base/fail.h"

namespace tare {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// A name that no other writer has: of another process, another thread, or another machine that
/// shares the folder.
std::string hidden_name(const std::string& path) {
  constexpr std::size_t kLongestStem = 200;  // a whole name may have 255 bytes
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  std::random_device random;
  return fmt::format("{}/.{}.{}.{:08x}.part", folder_of(path), name.substr(0, kLongestStem),
                     ::getpid(), random());
}

/// The file at the end of a chain of symbolic links; it need not exist.
std::string end_of_links(std::string path) {
  constexpr int kMostLinks = 40;  // as many as the kernel follows
  for (int k = 0; k < kMostLinks; ++k) {
    std::array<char, PATH_MAX> next;
    const ssize_t size = ::readlink(path.c_str(), next.data(), next.size());
    if (size <= 0) break;
    const std::string link(next.data(), static_cast<std::size_t>(size));
    path = link.front() == '/' ? link : folder_of(path) + "/" + link;
  }
  return path;
}

std::string open_file_path(int file) { return fmt::format("/proc/self/fd/{}", file); }

}  // namespace

AtomicFile::AtomicFile(std::string path, Overwrite overwrite)
    : path_(std::move(path)), overwrite_(overwrite) {
  if (path_ == "-") {
    direct_ = true;
    file_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (file_ < 0) fail_io(errno);
    return;
  }

  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  // A name that is too long or a loop of links: not after the work, when the file gets its name.
  if (!exists && errno != ENOENT && errno != ENOTDIR) fail_io(errno);
  if (exists && S_ISDIR(status.st_mode)) {
    fail(ErrorCode::kInvalidArgument, {.source = path_}, "is a folder; name a file in it");
  }
  if (exists && !S_ISREG(status.st_mode)) {
    direct_ = true;
    file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (file_ < 0) fail_io(errno);
    return;
  }
  if (exists && overwrite_ == Overwrite::kRefuse) fail_exists();
  target_ = end_of_links(path_);
  if (!open_nameless()) open_hidden();
}

/// Not readable by others before commit(), which knows whose file it replaces.
bool AtomicFile::open_nameless() {
  const std::string folder = folder_of(target_);
  const mode_t mode = ::access(target_.c_str(), F_OK) == 0 ? 0600 : 0666;
  file_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  if (file_ < 0) {
    if (errno != ENOENT) return false;
    fail(ErrorCode::kNotFound, {.source = path_}, "the folder '{}' does not exist", folder);
  }
  // It gets its name through /proc, which a sandbox may lack.
  struct stat ours {};
  struct stat seen {};
  if (::fstat(file_, &ours) == 0 && ::stat(open_file_path(file_).c_str(), &seen) == 0 &&
      ours.st_ino == seen.st_ino && ours.st_dev == seen.st_dev) {
    return true;
  }
  ::close(std::exchange(file_, -1));
  return false;
}

void AtomicFile::open_hidden() {
  const mode_t mode = ::access(target_.c_str(), F_OK) == 0 ? 0600 : 0666;
  do {
    hidden_path_ = hidden_name(target_);
    file_ = ::open(hidden_path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
  } while (file_ < 0 && errno == EEXIST);
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

/// Gives the nameless file a hidden name, for the moment until it is renamed.
void AtomicFile::link_hidden() {
  const std::string self = open_file_path(file_);
  for (;;) {
    std::string hidden = hidden_name(target_);
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, hidden.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      hidden_path_ = std::move(hidden);
      return;
    }
    if (errno != EEXIST) fail_io(errno);
  }
}

/// Those of the file that is replaced.
void AtomicFile::take_over_permissions() {
  struct stat old {};
  struct stat ours {};
  if (::stat(target_.c_str(), &old) != 0 || ::fstat(file_, &ours) != 0) return;
  // Only root may give a file away; a member of the group may keep the group.
  if (ours.st_uid != old.st_uid && ::fchown(file_, old.st_uid, old.st_gid) == 0) {
    ours.st_gid = old.st_gid;
  }
  mode_t mode = old.st_mode & 0777;
  if (ours.st_gid != old.st_gid && ::fchown(file_, static_cast<uid_t>(-1), old.st_gid) != 0) {
    mode &= ~mode_t{0070};  // the rights of one group are not those of another
  }
  // A file system without permissions refuses; the file is then as private as it was made.
  [[maybe_unused]] const int ignored = ::fchmod(file_, mode);
}

void AtomicFile::commit() {
  if (direct_) return close_file();
  take_over_permissions();
  // On the disk before it has the name: a power cut must not leave the name on an empty file.
  if (::fsync(file_) != 0) fail_io(errno);
  if (hidden_path_.empty()) {
    const std::string self = open_file_path(file_);
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, target_.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      return close_file();
    }
    if (errno != EEXIST) fail_io(errno);
    if (overwrite_ == Overwrite::kRefuse) fail_exists();
    link_hidden();  // a nameless file cannot be linked over an existing name
  }
  if (overwrite_ == Overwrite::kRefuse) {
    // link fails where the name has appeared in the meantime; rename would replace it silently.
    if (::link(hidden_path_.c_str(), target_.c_str()) != 0) {
      if (errno == EEXIST) fail_exists();
      fail_io(errno);
    }
    return close_file();  // the destructor removes the hidden name
  }
  if (::rename(hidden_path_.c_str(), target_.c_str()) != 0) fail_io(errno);
  hidden_path_.clear();
  close_file();
}

}  // namespace tare
