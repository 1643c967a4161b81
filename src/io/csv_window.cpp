// SPDX-License-Identifier: BSD-3-Clause
#include "io/csv_window.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/fail.h"

namespace tare {

CsvWindow::CsvWindow(std::unique_ptr<ByteSource> source, std::size_t block_bytes)
    : source_(std::move(source)),
      bytes_(std::max<std::size_t>(block_bytes, 1) + kSlack),
      at_(bytes_.data()),
      limit_(bytes_.data()) {}

std::uint64_t CsvWindow::offset() const noexcept {
  return dropped_ + static_cast<std::uint64_t>(at_ - bytes_.data());
}

bool CsvWindow::more() {
  const auto skipped = static_cast<std::size_t>(at_ - bytes_.data());
  const auto usable = static_cast<std::size_t>(limit_ - at_);
  std::memmove(bytes_.data(), at_, filled_ - skipped);
  filled_ -= skipped;
  dropped_ += skipped;
  at_ = bytes_.data();
  limit_ = at_ + usable;

  // A caller in the middle of a quoted cell starts that cell again. Fetching as many bytes as there
  // are already keeps the work linear in its length, even if a pipe delivers a few bytes at a time.
  std::size_t fetched = 0;
  bool longer = false;
  while (!longer || fetched < usable) {
    if (ended_) return longer;
    if (nul_) {
      if (longer) return true;
      const auto breaks = std::count(at_, at_ + filled_, '\n');
      fail(ErrorCode::kBadData,
           {.source = name(), .line = line_ + static_cast<std::uint64_t>(breaks)},
           "a NUL byte (is it a text file, and in UTF-8?)");
    }
    const std::size_t before = filled_;
    fetched += fetch();
    const std::string_view fresh(bytes_.data() + before, filled_ - before);
    const std::size_t last_break = fresh.rfind('\n');
    if (last_break != std::string_view::npos) {
      limit_ = bytes_.data() + before + last_break + 1;
      longer = true;
    }
    if (ended_ && bytes_.data() + filled_ != limit_) {
      close_last_line();
      longer = true;
    }
  }
  return true;
}

/// Reads what fits behind the filled part, which it makes larger if need be.
std::size_t CsvWindow::fetch() {
  if (filled_ > longest_line_) {
    fail(ErrorCode::kBadData,
         {.source = name(),
          .line = line_,
          .remedies = {advice("is a quote or a line break missing?")}},
         "a line or quoted cell of more than {} MiB", longest_line_ >> 20);
  }
  if (filled_ + kSlack >= bytes_.size()) {
    const auto usable = limit_ - at_;
    // Not beyond the limit: doubling would take half as much again for a line that is refused.
    const std::size_t most = std::max(longest_line_ + kSlack + 2, bytes_.size() + 1);
    bytes_.resize(std::min(2 * bytes_.size(), most));
    at_ = bytes_.data();
    limit_ = at_ + usable;
  }
  const std::size_t count =
      source_->read(bytes_.data() + filled_, bytes_.size() - kSlack - filled_);
  ended_ = count == 0;
  // What follows a NUL is never looked at, so it need not be kept.
  const void* nul = std::memchr(bytes_.data() + filled_, '\0', count);
  nul_ = nul != nullptr;
  filled_ = nul_ ? static_cast<std::size_t>(static_cast<const char*>(nul) - bytes_.data())
                 : filled_ + count;
  return count;
}

/// Ends the last line as all others do; the slack has room for it.
void CsvWindow::close_last_line() {
  bytes_[filled_++] = '\n';
  limit_ = bytes_.data() + filled_;
}

}  // namespace tare
