// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tare {

enum class Overwrite { kRefuse, kAllow };

/// A file that appears under its name completely or not at all.
///
/// The bytes go to a file without a name in the same folder (O_TMPFILE), so that even a killed
/// process leaves nothing behind; where the file system has no such files, or /proc is absent, to a
/// hidden one that the destructor removes. commit() makes it durable and gives it its name in one
/// step. An existing file stays until then, and passes on its permissions and, where the system
/// allows it, its owner. Several writers of one name do not disturb each other: the last one wins.
///
/// A symbolic link stays: the file that it leads to is written. "-" is standard output, and a path
/// that is a device or a pipe is written directly.
class AtomicFile {
 public:
  /// Throws kInvalidArgument where the file exists and may not be overwritten, kNotFound where the
  /// folder does not exist, kIo where it cannot be written.
  AtomicFile(std::string path, Overwrite overwrite);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Throws kIo (a full disk, a closed pipe).
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void commit();

 private:
  [[noreturn]] void fail_io(int error) const;
  [[noreturn]] void fail_exists() const;
  void close_file();
  bool open_nameless();
  void open_hidden();
  void link_hidden();
  void take_over_permissions();

  std::string path_;         // as it was given, for messages
  std::string target_;       // where symbolic links lead to
  std::string hidden_path_;  // empty while the file has no name
  int file_ = -1;
  bool direct_ = false;  // not a regular file: nothing to rename
  Overwrite overwrite_;
};

}  // namespace tare
