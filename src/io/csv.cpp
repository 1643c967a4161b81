// SPDX-License-Identifier: BSD-3-Clause
#include "io/csv.h"

#include <fast_float/fast_float.h>

#include <fmt/compile.h>
#include <fmt/format.h>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/fail.h"
#include "base/strings.h"
#include "io/csv_columns.h"
#include "io/csv_limits.h"
#include "io/csv_plain.h"
#include "io/csv_scan.h"
#include "io/csv_window.h"
#include "io/files/byte_source.h"

namespace tare {
namespace {

constexpr std::size_t kAllRows = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kSampleRows = 1024;  // rows after which the number of rows is estimated
// The first rows may be much shorter than the rest; a bad estimate must not reserve all the memory.
constexpr std::size_t kMostReserved = std::size_t{1} << 27;  // cells

/// A cell for a message: on one line, and shortened if it is long.
std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::size_t size = std::min(text.size(), kLongest);
  // Not through the middle of a UTF-8 character.
  while (size < text.size() && size > 0 && (text[size] & '\xc0') == '\x80') --size;
  std::string out(text.substr(0, size));
  for (char& c : out) {
    if ((c >= 0 && c < ' ') || c == '\x7f') c = '?';
  }
  if (size < text.size()) out += "...";
  return out;
}

/// The first name that was there before. By sorting, which takes a tenth of the memory of a set.
std::optional<std::size_t> first_repeated(const std::vector<std::string>& names) {
  std::vector<std::uint32_t> order(names.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    const int compared = names[a].compare(names[b]);
    return compared != 0 ? compared < 0 : a < b;
  });
  std::optional<std::size_t> first;
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (names[order[k]] != names[order[k - 1]]) continue;
    if (!first || order[k] < *first) first = order[k];
  }
  return first;
}

}  // namespace

class CsvReader::Impl {
 public:
  struct RowPlace {
    std::uint64_t line;
    std::uint64_t row;  // of all that were read, from 0
  };

  Impl(std::unique_ptr<ByteSource> bytes, std::size_t block_bytes)
      : window_(std::move(bytes), block_bytes), scanner_(window_) {
    window_.limit_lines(kLongestHeader);
    read_header();
    window_.limit_lines(kLongestLine);
    select(std::vector<ColumnRequest>(header_.size()));
  }

  const std::string& source() const noexcept { return window_.name(); }
  const std::vector<std::string>& header() const noexcept { return header_; }
  char delimiter() const noexcept { return scanner_.delimiter(); }
  void use_threads(std::size_t threads) noexcept { threads_ = threads; }

  void select(const std::vector<ColumnRequest>& requests) {
    assert(!reading_ && "select() comes before the first read()");
    if (requests.size() != header_.size()) {
      fail(ErrorCode::kShapeMismatch, {.source = source()},
           "{} columns were asked for where the header has {}", requests.size(), header_.size());
    }
    columns_.clear();
    remedies_.clear();
    for (const ColumnRequest& request : requests) {
      columns_.emplace_back(request);
      remedies_.push_back(request.remedy);
    }
  }

  bool read(Table& batch, std::size_t max_rows, std::uint64_t max_bytes) {
    reading_ = true;
    batch.source = source();
    batch.lines.clear();
    batch.first_row = rows_before_;
    batch.columns.resize(header_.size());
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      batch.columns[c].name = header_[c];
      columns_[c].start(batch.columns[c]);
    }
    const std::uint64_t start = window_.offset();
    const bool to_the_end = max_rows == kAllRows;
    while (batch.rows() < max_rows && window_.offset() - start < max_bytes && add_row(batch)) {
      if (batch.rows() == kSampleRows) reserve(batch, max_rows, window_.offset() - start);
      if (to_the_end && batch.rows() >= kSampleRows) add_plain_rows(batch);
    }
    for (ColumnBuilder& column : columns_) column.finish();
    rows_before_ += batch.rows();
    return batch.rows() > 0;
  }

 private:
  void read_header();
  bool add_row(Table& batch);
  void add_plain_rows(Table& batch);
  void read_row(RowPlace at);
  void read_cell(std::size_t c, RowPlace at);
  void reserve(Table& batch, std::size_t max_rows, std::uint64_t sampled_bytes) const;
  void check_count(RowPlace at, std::size_t cells, CsvCell cell);
  [[noreturn]] void fault(CellFault why, std::size_t c, RowPlace at, const std::string& text) const;

  CsvWindow window_;
  CsvScanner scanner_;
  std::vector<std::string> header_;
  std::vector<ColumnBuilder> columns_;
  std::vector<std::string_view> remedies_;
  std::uint64_t blank_rows_ = 0;  // passed over, and still to be handed out as missing cells
  std::size_t threads_ = 0;
  std::vector<PlainRows> pieces_;
  bool reading_ = false;
  std::uint64_t rows_before_ = 0;  // of earlier batches
};

void CsvReader::Impl::read_header() {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  while (static_cast<std::size_t>(window_.limit() - window_.at()) < kByteOrderMark.size()) {
    if (!window_.more()) break;
  }
  const std::string_view all(window_.at(),
                             static_cast<std::size_t>(window_.limit() - window_.at()));
  if (all.starts_with(kByteOrderMark)) window_.move_to(window_.at() + kByteOrderMark.size(), 0);
  scanner_.skip_blank_lines();
  if (!window_.has_more()) {
    fail(ErrorCode::kBadData,
         {.source = source(), .remedies = {advice("a header row and data rows are expected")}},
         "the file is empty");
  }

  scanner_.find_delimiter();
  const std::uint64_t line = window_.line();
  for (bool last = false; !last;) {
    const CsvCell cell = scanner_.next();
    last = cell.last;
    if (header_.size() == kMostColumns) {
      fail(ErrorCode::kBadData,
           {.source = source(),
            .line = line,
            .remedies = {advice("remove columns, or is a line break missing?")}},
           "the header has more than {} columns", kMostColumns);
    }
    header_.emplace_back(trim(cell.text));
    // An index that was written without a name is the usual reason for an empty one.
    if (header_.back().empty()) header_.back() = fmt::format("unnamed_{}", header_.size() - 1);
  }
  header_.shrink_to_fit();
  const auto twice = first_repeated(header_);
  if (!twice) return;
  fail(ErrorCode::kBadData,
       {.source = source(),
        .line = line,
        .column = shown(header_[*twice]),
        .remedies = {advice("rename one")},
        .named_in_problem = true},
       "column '{}' appears twice", shown(header_[*twice]));
}

bool CsvReader::Impl::add_row(Table& batch) {
  if (blank_rows_ == 0) {
    const std::uint64_t line = window_.line();
    const std::uint64_t blank = scanner_.skip_blank_lines();
    if (!window_.has_more()) return false;  // blank lines at the end mean nothing
    if (blank > 0 && header_.size() > 1) {
      fail(ErrorCode::kBadData,
           {.source = source(), .line = line, .remedies = {advice("remove it")}},
           "a blank line where the header has {} cells", header_.size());
    }
    blank_rows_ = blank;
  }
  if (blank_rows_ > 0) {
    const std::uint64_t line = window_.line() - blank_rows_--;
    columns_[0].add("", line);
    batch.lines.push_back(line);
    return true;
  }
  const std::uint64_t line = window_.line();
  read_row({line, rows_before_ + batch.rows()});
  batch.lines.push_back(line);
  return true;
}

/// Whatever the window holds of rows of plain numbers, on all threads. Nothing where a column is of
/// another kind.
void CsvReader::Impl::add_plain_rows(Table& batch) {
  if (blank_rows_ > 0 || window_.at() == window_.limit()) return;
  PlainRows rows;
  std::vector<std::uint8_t> wanted;
  for (const ColumnBuilder& column : columns_) {
    if (!column.takes_numbers() && !column.takes_nothing()) return;
    wanted.push_back(column.takes_numbers() ? 1 : 0);
  }
  rows.columns.resize(columns_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) rows.columns[c].swap(batch.columns[c].numbers);
  read_plain_rows(window_.at(), window_.limit(), scanner_.delimiter(), wanted, threads_, pieces_,
                  rows);
  for (std::size_t c = 0; c < columns_.size(); ++c) rows.columns[c].swap(batch.columns[c].numbers);
  for (std::size_t i = 0; i < rows.rows; ++i) batch.lines.push_back(window_.line() + i);
  window_.move_to(rows.end, rows.rows);
}

void CsvReader::Impl::read_row(RowPlace at) {
  const std::size_t last = columns_.size() - 1;
  const char delimiter = scanner_.delimiter();
  const char* p = window_.at();
  for (std::size_t c = 0; c <= last; ++c) {
    ColumnBuilder& column = columns_[c];
    if (column.takes_numbers()) {
      double value = 0.0;
      const auto [end, error] = fast_float::from_chars(p, window_.limit(), value);
      if (error == std::errc{} && std::isfinite(value)) {
        if (*end == delimiter && c < last) {
          column.add_number(value);
          p = end + 1;
          continue;
        }
        const char* feed = *end == '\r' ? end + 1 : end;
        if (*feed == '\n' && c == last) {
          column.add_number(value);
          window_.move_to(feed + 1, 1);
          return;
        }
      }
    }
    window_.move_to(p, 0);
    read_cell(c, at);
    p = window_.at();
  }
}

/// Any cell, at the window's place.
void CsvReader::Impl::read_cell(std::size_t c, RowPlace at) {
  const CsvCell cell = scanner_.next();
  if (cell.last != (c + 1 == columns_.size())) check_count(at, c + 1, cell);
  const CellFault why = columns_[c].add(cell.text, at.line);
  if (why == CellFault::kNone) return;
  const std::string text(cell.text);
  // A lost delimiter shows first as a strange cell; that the row is too short says more.
  check_count(at, c + 1, cell);
  fault(why, c, at, text);
}

/// Reads the rest of the row behind `cell`, the `cells`-th, and throws when the row is too short or
/// too long.
void CsvReader::Impl::check_count(RowPlace at, std::size_t cells, CsvCell cell) {
  for (; !cell.last; ++cells) cell = scanner_.next();
  if (cells == columns_.size()) return;
  fail(ErrorCode::kBadData,
       {.source = source(),
        .line = at.line,
        .row = at.row,
        .remedies = {advice("is a delimiter or a quote missing?")}},
       "{} cell{} where the header has {}", cells, cells == 1 ? "" : "s", columns_.size());
}

void CsvReader::Impl::fault(CellFault why, std::size_t c, RowPlace at,
                            const std::string& text) const {
  const ColumnBuilder& column = columns_[c];
  const bool mixed = why == CellFault::kMixed;
  ErrorDetails details{.source = source(), .line = at.line, .row = at.row};
  details.column = shown(header_[c]);
  details.value = shown(trim(text));
  if (mixed) {  // the text came before, on a line that is known and in a row that is not
    details.line = column.first_text_line();
    details.row.reset();
    details.value = shown(trim(column.first_text()));
  }
  const std::string value = details.value;
  if (why == CellFault::kInfinite) {
    details.remedies = {advice("remove the row or correct the value")};
    fail(ErrorCode::kBadData, std::move(details), "'{}' is not finite", value);
  }
  if (column.automatic()) {
    details.remedies = {advice("correct it"),
                        use("categorical", details.column, "if the column holds categories")};
  } else if (!remedies_[c].empty()) {
    details.remedies = {advice(std::string(remedies_[c]))};
  }
  fail(ErrorCode::kBadData, std::move(details), "'{}' is not a number", value);
}

/// Growing by doubling would copy every number about once and touch twice the memory.
void CsvReader::Impl::reserve(Table& batch, std::size_t max_rows,
                              std::uint64_t sampled_bytes) const {
  if (window_.size_hint() <= window_.offset()) return;
  const double bytes_per_row = static_cast<double>(sampled_bytes) / kSampleRows;
  const double rows_left =
      static_cast<double>(window_.size_hint() - window_.offset()) / bytes_per_row;
  const std::size_t most = std::min(max_rows, kMostReserved / columns_.size());
  const auto count =
      static_cast<std::size_t>(std::min(kSampleRows + 1.02 * rows_left, static_cast<double>(most)));
  batch.lines.reserve(count);
  for (Column& column : batch.columns) {
    if (!column.numbers.empty()) column.numbers.reserve(count);
    if (!column.codes.empty()) column.codes.reserve(count);
  }
}

CsvReader::CsvReader(const std::string& path) : CsvReader(open_bytes(path)) {}
CsvReader::CsvReader(std::unique_ptr<ByteSource> source, std::size_t block_bytes)
    : impl_(std::make_unique<Impl>(std::move(source), block_bytes)) {}
CsvReader::~CsvReader() = default;
CsvReader::CsvReader(CsvReader&&) noexcept = default;
CsvReader& CsvReader::operator=(CsvReader&&) noexcept = default;

const std::string& CsvReader::source() const noexcept { return impl_->source(); }
const std::vector<std::string>& CsvReader::header() const noexcept { return impl_->header(); }
char CsvReader::delimiter() const noexcept { return impl_->delimiter(); }
void CsvReader::use_threads(std::size_t threads) { impl_->use_threads(threads); }
void CsvReader::select(std::vector<ColumnRequest> requests) { impl_->select(requests); }
bool CsvReader::read(Table& batch, std::size_t max_rows, std::uint64_t max_bytes) {
  return impl_->read(batch, max_rows, max_bytes);
}

Table read_all(CsvReader& reader) {
  Table table;
  if (!reader.read(table, kAllRows)) {
    fail(ErrorCode::kBadData, {.source = reader.source()},
         "the file has a header but no data rows");
  }
  return table;
}

void append_csv_cell(std::string& out, std::string_view cell, char delimiter) {
  const char special[] = {delimiter, '"', '\n', '\r'};
  if (cell.find_first_of(std::string_view(special, sizeof special)) == std::string_view::npos) {
    out += cell;
    return;
  }
  out += '"';
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_csv_number(std::string& out, double value) {
  if (std::isnan(value)) return;
  // Not std::to_chars, which is about as fast but writes 100000 as 1e+05.
  char text[32];
  const char* end = fmt::format_to(text, FMT_COMPILE("{}"), value);
  out.append(text, static_cast<std::size_t>(end - text));
}

}  // namespace tare
