// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/journal_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/fail.h"

namespace tare {
namespace {

constexpr std::string_view kJournalMagic = "TAREJRNL";
constexpr std::uint32_t kJournalVersion = 1;
constexpr std::size_t kWord = 4;
constexpr std::size_t kHeaderStart = 20;  // magic, version, length, checksum of these
constexpr std::size_t kRecordStart = 8;   // length, checksum of it
constexpr std::size_t kReadAtOnce = std::size_t{1} << 16;

std::uint32_t journal_crc(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// Little-endian on every machine.
void put_word(std::string& out, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xFFU);
}

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < kWord; ++i) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

struct JournalDescriptor {
  int number;
  ~JournalDescriptor() {
    if (number >= 0) ::close(number);
  }
};

/// The bytes of a file, some of which are in memory.
class JournalBytes {
 public:
  JournalBytes(int file, const std::string& path) : file_(file), path_(path) {}

  /// At least `count` bytes from the present place on, or all that are left.
  std::string_view look(std::size_t count) {
    if (used_ > 0 && buffer_.size() - used_ < count) {
      buffer_.erase(0, used_);
      used_ = 0;
    }
    while (!ended_ && buffer_.size() - used_ < count) read_more();
    return std::string_view(buffer_).substr(used_);
  }
  void pass(std::size_t count) { used_ += count; }
  /// Whether all that is left is zeros; the present place moves.
  bool only_zeros_are_left() {
    for (;;) {
      const std::string_view rest = look(kReadAtOnce);
      if (rest.empty()) return true;
      if (rest.find_first_not_of('\0') != std::string_view::npos) return false;
      pass(rest.size());
    }
  }

 private:
  void read_more() {
    const std::size_t have = buffer_.size();
    buffer_.resize(have + kReadAtOnce);
    const auto got = ::read(file_, buffer_.data() + have, kReadAtOnce);
    const int error = errno;
    buffer_.resize(have + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && error != EINTR) {
      fail(ErrorCode::kIo, {.source = path_}, "cannot be read: {}", std::strerror(error));
    }
    ended_ = got == 0;
  }

  int file_;
  const std::string& path_;
  std::string buffer_;
  std::size_t used_ = 0;
  bool ended_ = false;
};

[[noreturn]] void fail_no_journal(const std::string& path) {
  fail(ErrorCode::kCorruptFile, {.source = path}, "is not a journal of tare");
}

[[noreturn]] void fail_damaged(const std::string& path, std::uint64_t at) {
  fail(ErrorCode::kCorruptFile,
       {.source = path,
        .remedies = {advice("restore the file from a copy, or remove it: the rows that it has "
                            "and the model has not are then forgotten")}},
       "the journal is damaged at byte {}, and there are more bytes after it", at);
}

/// The header, or nothing where its writer was stopped: then no record was written either.
std::optional<std::string> read_journal_header(JournalBytes& bytes, const std::string& path) {
  const std::string_view start = bytes.look(kHeaderStart);
  const std::size_t known = std::min(start.size(), kJournalMagic.size());
  if (start.substr(0, known) != kJournalMagic.substr(0, known)) fail_no_journal(path);
  if (start.size() < kHeaderStart) return std::nullopt;
  if (word_at(start, 16) != journal_crc(start.substr(0, 16))) fail_damaged(path, 0);
  if (word_at(start, 8) != kJournalVersion) {
    fail(ErrorCode::kUnsupported, {.source = path},
         "the journal has version {}, and this tare knows version {}", word_at(start, 8),
         kJournalVersion);
  }
  const std::size_t length = word_at(start, 12);
  if (length > kLongestJournalRecord) fail_damaged(path, 0);
  const std::string_view all = bytes.look(kHeaderStart + length + kWord);
  if (all.size() < kHeaderStart + length + kWord) return std::nullopt;
  const std::string_view text = all.substr(kHeaderStart, length);
  if (word_at(all, kHeaderStart + length) != journal_crc(text)) fail_damaged(path, kHeaderStart);
  return std::string(text);
}

/// Reads records as long as they are whole; `at` is where the first one begins.
std::uint64_t read_whole_records(JournalBytes& bytes, const std::string& path, std::uint64_t at,
                                 const TakeJournalBytes& take) {
  for (;;) {
    const std::string_view start = bytes.look(kRecordStart);
    if (start.size() < kRecordStart) return at;
    const std::size_t length = word_at(start, 0);
    if (word_at(start, kWord) != journal_crc(start.substr(0, kWord)) ||
        length > kLongestJournalRecord) {
      if (!bytes.only_zeros_are_left()) fail_damaged(path, at);
      return at;
    }
    const std::size_t size = kRecordStart + length + kWord;
    const std::string_view all = bytes.look(size + 1);
    if (all.size() < size) return at;
    const std::string_view record = all.substr(kRecordStart, length);
    if (word_at(all, kRecordStart + length) != journal_crc(record)) {
      if (all.size() > size) fail_damaged(path, at);
      return at;
    }
    take(record);
    bytes.pass(size);
    at += size;
  }
}

}  // namespace

JournalEnd read_journal(const std::string& path, const TakeJournalBytes& header,
                        const TakeJournalBytes& record, std::uint64_t from) {
  const JournalDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      fail(ErrorCode::kNotFound, {.source = path}, "no such file");
    }
    fail(ErrorCode::kIo, {.source = path}, "cannot be opened: {}", std::strerror(errno));
  }
  JournalBytes bytes(file.number, path);
  JournalEnd end{.whole = from};
  if (from == 0) {
    const std::optional<std::string> text = read_journal_header(bytes, path);
    if (text) {
      header(*text);
      bytes.pass(kHeaderStart + text->size() + kWord);
      end.whole = kHeaderStart + text->size() + kWord;
    }
  } else if (::lseek(file.number, static_cast<off_t>(from), SEEK_SET) < 0) {
    fail(ErrorCode::kIo, {.source = path}, "cannot be read: {}", std::strerror(errno));
  }
  if (end.whole > 0) end.whole = read_whole_records(bytes, path, end.whole, record);
  struct stat status {};
  if (::fstat(file.number, &status) != 0) {
    fail(ErrorCode::kIo, {.source = path}, "cannot be read: {}", std::strerror(errno));
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  end.torn = size > end.whole ? size - end.whole : 0;
  return end;
}

JournalFile::JournalFile(std::string path, JournalSync sync) : path_(std::move(path)), sync_(sync) {
  constexpr mode_t kOwnerAndReaders = 0644;
  file_ =
      ::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, kOwnerAndReaders);
  if (file_ < 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) {
      fail(ErrorCode::kNotFound, {.source = path_}, "its folder does not exist");
    }
    fail_io("cannot be opened", error);
  }
  struct stat status {};
  const int failed = ::fstat(file_, &status) != 0 ? errno : 0;
  if (failed == 0 && S_ISREG(status.st_mode) && ::flock(file_, LOCK_EX | LOCK_NB) == 0) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    return;
  }
  const int error = errno;
  ::close(file_);
  if (failed != 0) fail_io("cannot be opened", failed);
  if (!S_ISREG(status.st_mode)) {
    fail(ErrorCode::kIo, {.source = path_}, "is not a regular file");
  }
  if (error != EWOULDBLOCK) fail_io("cannot be locked", error);
  fail(ErrorCode::kIo,
       {.source = path_, .remedies = {advice("give each service a journal of its own")}},
       "another process writes to this journal");
}

JournalFile::~JournalFile() { ::close(file_); }

void JournalFile::fail_io(std::string_view what, int error) const {
  fail(ErrorCode::kIo, {.source = path_}, "{}: {}", what, std::strerror(error));
}

void JournalFile::start(std::string_view header) {
  go_on(0);
  std::string bytes(kJournalMagic);
  put_word(bytes, kJournalVersion);
  put_word(bytes, static_cast<std::uint32_t>(header.size()));
  put_word(bytes, journal_crc(bytes));
  bytes += header;
  put_word(bytes, journal_crc(header));
  write(bytes);
  if (::fsync(file_) != 0) fail_io("cannot be written to the disk", errno);
  const std::size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  const JournalDescriptor parent{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (parent.number >= 0) ::fsync(parent.number);  // not every file system can
}

void JournalFile::go_on(std::uint64_t whole) {
  size_ = whole;
  has_more_ = true;
  cut_to_size();
}

void JournalFile::cut_to_size() {
  if (!has_more_) return;
  while (::ftruncate(file_, static_cast<off_t>(size_)) != 0) {
    if (errno != EINTR) fail_io("cannot be cut to its last whole record", errno);
  }
  has_more_ = false;
}

/// Records in a file without a name would be gone with the process.
void JournalFile::check_has_name() const {
  struct stat status {};
  if (::fstat(file_, &status) == 0 && status.st_nlink > 0) return;
  fail(ErrorCode::kIo, {.source = path_, .remedies = {advice("start the service again")}},
       "the journal was removed while it was in use");
}

void JournalFile::append(std::string_view record) {
  if (record.size() > kLongestJournalRecord) {
    fail(ErrorCode::kIo, {.source = path_}, "a record of {} bytes is too long", record.size());
  }
  check_has_name();
  frame_.clear();
  put_word(frame_, static_cast<std::uint32_t>(record.size()));
  put_word(frame_, journal_crc(frame_));
  frame_ += record;
  put_word(frame_, journal_crc(record));
  write(frame_);
}

/// All bytes or, with an exception, none.
void JournalFile::write(std::string_view bytes) {
  cut_to_size();
  std::size_t done = 0;
  int error = 0;
  while (done < bytes.size() && error == 0) {
    const auto written = ::write(file_, bytes.data() + done, bytes.size() - done);
    if (written > 0) done += static_cast<std::size_t>(written);
    if (written == 0) error = ENOSPC;
    if (written < 0 && errno != EINTR) error = errno;
  }
  if (error == 0 && sync_ == JournalSync::kAlways && ::fdatasync(file_) != 0) error = errno;
  if (error == 0) {
    size_ += bytes.size();
    return;
  }
  has_more_ = true;
  try {
    cut_to_size();
  } catch (const Error&) {
    // Before the next append; until then the rest is a torn record at the end.
  }
  fail_io("cannot be written", error);
}

}  // namespace tare
