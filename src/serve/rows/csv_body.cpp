// SPDX-License-Identifier: BSD-3-Clause
#include "serve/rows/csv_body.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "io/files/byte_source.h"
#include "serve/http/refusal.h"

namespace tare::serve {
namespace {

/// Read at a time: the clock is looked at in between.
constexpr std::size_t kBytesAtOnce = std::size_t{64} << 10;

/// The bytes of a body, as long as there is time to read them. The body must outlive it.
class BodySource final : public ByteSource {
 public:
  BodySource(std::string_view body, const TimeLimit& time) : left_(body), time_(time) {}

  const std::string& name() const noexcept override { return name_; }
  std::uint64_t size_hint() const noexcept override { return left_.size(); }
  std::size_t read(char* to, std::size_t room) override {
    time_.check();
    const std::size_t count = std::min({room, left_.size(), kBytesAtOnce});
    if (count > 0) std::memcpy(to, left_.data(), count);
    left_.remove_prefix(count);
    return count;
  }

 private:
  std::string name_ = "body";
  std::string_view left_;
  const TimeLimit& time_;
};

/// Counts the delimiters of the header before anything is allocated for its columns. The reader
/// takes the delimiter that occurs most often outside of quotes, so one that occurs too often makes
/// too many columns.
void check_header(std::string_view body, std::size_t most_columns) {
  constexpr std::string_view kDelimiters = ",\t;|";
  std::array<std::size_t, kDelimiters.size()> counts{};
  bool seen = false;  // blank lines may come before the header
  bool at_start = true;
  bool quoted = false;
  for (const char c : body) {
    if (quoted) {
      quoted = c != '"';
      continue;
    }
    if (c == '\n') {
      if (seen) return;
      continue;
    }
    const std::size_t which = kDelimiters.find(c);
    if (which != std::string_view::npos && ++counts[which] >= most_columns) {
      refuse(413, "the header has more than {} columns (send only those that the model needs)",
             most_columns);
    }
    quoted = c == '"' && at_start;
    at_start = which != std::string_view::npos || (at_start && c == ' ') || quoted;
    seen = seen || (c != ' ' && c != '\t' && c != '\r');
  }
}

[[noreturn]] void throw_refusal(const Error& error) {
  Refusal refusal = refusal_of(error, RowNames::kLines);
  // A column to keep is asked for in the query, not in the body.
  if (error.details().option == "keep") throw Refusal(400, refusal.detail());
  throw refusal;
}

}  // namespace

Table parse_csv_body(std::string_view body, const CsvRequests& requests, const RowLimits& limits,
                     std::size_t raw_cells) {
  constexpr std::size_t kLeastBlock = 4'096;
  check_header(body, limits.columns);
  try {
    CsvReader reader(std::make_unique<BodySource>(body, limits.time),
                     std::clamp(body.size() + 1, kLeastBlock, kBytesAtOnce));
    reader.use_threads(1);
    std::vector<ColumnRequest> wanted = requests(reader.header());
    const auto kept =
        static_cast<std::size_t>(std::ranges::count(wanted, true, &ColumnRequest::raw));
    const std::size_t most_kept = raw_cells / std::max<std::size_t>(kept, 1);
    const std::size_t most = std::min(limits.rows, most_kept);
    reader.select(std::move(wanted));
    Table table;
    reader.read(table, most + 1);
    if (table.rows() <= most) return table;
    if (most < limits.rows) {
      refuse(413,
             "more than {} rows with {} columns to copy each exceed the {} cells that a request "
             "may copy (send the rows in several requests)",
             most, kept, raw_cells);
    }
    refuse(413, "more than {} rows in one request (send them in several)", limits.rows);
  } catch (const Error& error) {
    throw_refusal(error);
  }
}

}  // namespace tare::serve
