// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fail.h"

namespace tare {
namespace {

constexpr std::size_t kPackedBytes = std::size_t{1} << 18;  // compressed input held at a time

class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path) : name_(path == "-" ? "<stdin>" : path) {
    if (path == "-") {
      descriptor_ = STDIN_FILENO;
      owned_ = false;
    } else {
      descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      if (descriptor_ < 0) refuse();
    }
  }
  ~FileSource() override {
    if (owned_ && descriptor_ >= 0) ::close(descriptor_);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  const std::string& name() const noexcept override { return name_; }
  std::uint64_t size_hint() const noexcept override { return size_; }

  std::size_t read(char* to, std::size_t room) override {
    if (peeked_ < peek_.size()) {
      const std::size_t count = std::min(room, peek_.size() - peeked_);
      std::memcpy(to, peek_.data() + peeked_, count);
      peeked_ += count;
      return count;
    }
    return read_descriptor(to, room);
  }

  /// Finds out what is behind the name. Separate from opening, so that a throw closes the file.
  void inspect() {
    struct stat about {};
    if (::fstat(descriptor_, &about) != 0) refuse();
    if (S_ISDIR(about.st_mode))
      fail(ErrorCode::kBadData, {.source = name_}, "a directory, not a file");
    if (S_ISREG(about.st_mode) && owned_) size_ = static_cast<std::uint64_t>(about.st_size);
    // A pipe may hand over one byte at a time.
    std::array<char, 2> magic{};
    while (peek_.size() < magic.size()) {
      const std::size_t count = read_descriptor(magic.data(), magic.size() - peek_.size());
      if (count == 0) break;
      peek_.append(magic.data(), count);
    }
  }
  bool is_gzip() const noexcept { return peek_ == "\x1f\x8b"; }

 private:
  std::size_t read_descriptor(char* to, std::size_t room) {
    for (;;) {
      const ssize_t count = ::read(descriptor_, to, room);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) refuse();
    }
  }

  [[noreturn]] void refuse() const {
    const int reason = errno;
    if (reason == ENOENT || reason == ENOTDIR) {
      fail(ErrorCode::kNotFound, {.source = name_}, "no such file");
    }
    fail(ErrorCode::kIo, {.source = name_}, "cannot be read ({})", std::strerror(reason));
  }

  std::string name_;
  int descriptor_ = -1;
  bool owned_ = true;
  std::uint64_t size_ = 0;
  std::string peek_;  // the bytes that inspect() looked at; handed out first
  std::size_t peeked_ = 0;
};

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> packed)
      : packed_(std::move(packed)), input_(kPackedBytes) {
    constexpr int kGzipOnly = 16;  // added to the window bits: expect gzip's header and check sum
    const int state = inflateInit2(&stream_, MAX_WBITS + kGzipOnly);
    if (state == Z_MEM_ERROR) throw std::bad_alloc();
    if (state != Z_OK) fail(ErrorCode::kIo, {.source = name()}, "the decompressor cannot start");
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  const std::string& name() const noexcept override { return packed_->name(); }

  std::size_t read(char* to, std::size_t room) override {
    const std::size_t asked = std::min<std::size_t>(room, std::numeric_limits<uInt>::max());
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(asked);
    while (stream_.avail_out == asked) {
      if (between_members_ && !start_member()) return 0;
      if (stream_.avail_in == 0 && !fetch()) {
        fail(ErrorCode::kCorruptFile, {.source = name()},
             "the gzip data end too early (was the copy cut short?)");
      }
      const int state = inflate(&stream_, Z_NO_FLUSH);
      if (state == Z_STREAM_END) {
        between_members_ = true;
      } else if (state == Z_MEM_ERROR) {  // no fault of the file's
        throw std::bad_alloc();
      } else if (state != Z_OK) {
        damaged(stream_.msg != nullptr ? stream_.msg : "inflate failed");
      }
    }
    return asked - stream_.avail_out;
  }

 private:
  bool fetch() {
    const std::size_t count = packed_->read(input_.data(), input_.size());
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(count);
    return count > 0;
  }

  /// False at the end of the file. Tapes and some servers pad it with zeros, which gzip accepts.
  bool start_member() {
    for (;;) {
      if (stream_.avail_in == 0 && !fetch()) return false;
      if (*stream_.next_in != 0) break;
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (*stream_.next_in != 0x1f) damaged("bytes that are not gzip follow its end");
    inflateReset(&stream_);
    between_members_ = false;
    return true;
  }

  [[noreturn]] void damaged(std::string_view reason) const {
    fail(ErrorCode::kCorruptFile, {.source = name()}, "the gzip data are damaged ({})", reason);
  }

  std::unique_ptr<ByteSource> packed_;
  std::vector<char> input_;
  z_stream stream_{};
  bool between_members_ = false;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string name, std::string bytes)
      : name_(std::move(name)), bytes_(std::move(bytes)) {}

  const std::string& name() const noexcept override { return name_; }
  std::uint64_t size_hint() const noexcept override { return bytes_.size(); }

  std::size_t read(char* to, std::size_t room) override {
    const std::size_t count = std::min(room, bytes_.size() - given_);
    std::memcpy(to, bytes_.data() + given_, count);
    given_ += count;
    return count;
  }

 private:
  std::string name_;
  std::string bytes_;
  std::size_t given_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  auto file = std::make_unique<FileSource>(path);
  file->inspect();
  if (!file->is_gzip()) return file;
  return std::make_unique<GzipSource>(std::move(file));
}

std::unique_ptr<ByteSource> bytes_in_memory(std::string name, std::string bytes) {
  return std::make_unique<MemorySource>(std::move(name), std::move(bytes));
}

}  // namespace tare
