// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tare {

/// Called with the bytes of the header, or of a record.
using TakeJournalBytes = std::function<void(std::string_view bytes)>;

/// Where the whole records of a journal end.
struct JournalEnd {
  std::uint64_t whole = 0;  // bytes up to there; 0: the file has no header yet
  std::uint64_t torn = 0;   // bytes after it: a record, or the header, that was not written whole
};

/// Reads a journal: a header and then records, each with its length and checksums
/// (docs/serve.md has the bytes). Bytes at the end that a killed writer, or a power cut, may
/// leave are not read and counted in `torn`: the first part of a record, a last record with a wrong
/// checksum, zeros. `from` is 0 or the `whole` of an earlier call, which then goes on from there.
///
/// Throws kNotFound, kIo, kUnsupported for another version, and kCorruptFile for damage before the
/// end and for a file that is not a journal. Another process may append meanwhile.
JournalEnd read_journal(const std::string& path, const TakeJournalBytes& header,
                        const TakeJournalBytes& record, std::uint64_t from = 0);

enum class JournalSync : std::uint8_t {
  kSystem,  // the operating system writes to the disk when it likes
  kAlways,  // append() returns when the record is on the disk
};

/// A journal that is written to by this process alone. One thread at a time.
class JournalFile {
 public:
  /// Opens the file, or creates an empty one, and locks it until the end of this object. Throws
  /// kIo, also where another process has locked it, and kNotFound where the folder does not exist.
  JournalFile(std::string path, JournalSync sync);
  ~JournalFile();
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;

  const std::string& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return size_; }

  /// Replaces the contents by a header. The file and its name are on the disk afterwards.
  void start(std::string_view header);
  /// Goes on after the first `whole` bytes; the others are cut off.
  void go_on(std::uint64_t whole);
  /// Adds a record by one write(2). Where that fails, throws kIo, and the record is not there: the
  /// file is cut to its former length, or, where even that fails, before the next append.
  void append(std::string_view record);

 private:
  void write(std::string_view bytes);
  void cut_to_size();
  void check_has_name() const;
  [[noreturn]] void fail_io(std::string_view what, int error) const;

  std::string path_;
  JournalSync sync_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  bool has_more_ = false;  // bytes after size_ could not be cut off
  std::string frame_;      // reused by append
};

/// The longest record and header.
inline constexpr std::uint32_t kLongestJournalRecord = std::uint32_t{1} << 26;

}  // namespace tare
