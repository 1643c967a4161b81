// SPDX-License-Identifier: BSD-3-Clause
#include "csv_oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

namespace tare::oracle {
namespace {

struct Fault {
  std::size_t line;
  std::string kind;
};

struct Record {
  std::size_t line = 0;
  std::vector<std::string> cells;
};

std::string stripped(std::string text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.back())) text.pop_back();
  while (!text.empty() && blank(text.front())) text.erase(0, 1);
  return text;
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return text;
}

bool is_missing(const std::string& cell) {
  return std::set<std::string>{"", "na", "nan", "null", "?"}.contains(lower(stripped(cell)));
}

bool is_infinite_word(const std::string& cell) {
  std::string word = lower(stripped(cell));
  if (word.starts_with("+") || word.starts_with("-")) word.erase(0, 1);
  return word == "inf" || word == "infinity";
}

bool is_decimal(const std::string& cell) {
  const std::string word = stripped(cell);
  std::size_t i = 0;
  const auto digits = [&] {
    std::size_t count = 0;
    for (; i < word.size() && word[i] >= '0' && word[i] <= '9'; ++i) ++count;
    return count;
  };
  if (i < word.size() && (word[i] == '+' || word[i] == '-')) ++i;
  std::size_t mantissa = digits();
  if (i < word.size() && word[i] == '.') {
    ++i;
    mantissa += digits();
  }
  if (mantissa == 0) return false;
  if (i < word.size() && (word[i] == 'e' || word[i] == 'E')) {
    ++i;
    if (i < word.size() && (word[i] == '+' || word[i] == '-')) ++i;
    if (digits() == 0) return false;
  }
  return i == word.size();
}

/// Walks through the text, one record at a time.
class Walker {
 public:
  explicit Walker(const std::string& text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.erase(0, 3);
    if (!text_.empty() && text_.back() != '\n') text_ += '\n';
  }

  bool at_end() const { return i_ == text_.size(); }
  std::size_t line() const { return line_; }

  std::size_t skip_blank() {
    std::size_t count = 0;
    for (; !at_end(); ++count, ++line_) {
      const std::size_t feed = text_.find('\n', i_);
      if (text_.substr(i_, feed - i_).find_first_not_of(" \r") != std::string::npos) break;
      i_ = feed + 1;
    }
    return count;
  }

  char find_delimiter() const {
    std::map<char, int> counts;
    char state = 's';  // start of a cell, plain, quoted, or just behind a closing quote
    for (std::size_t k = i_; k < text_.size(); ++k) {
      const char c = text_[k];
      if (state == 'q') {
        if (c == '"') state = 'c';
      } else if (c == '\n') {
        break;
      } else if (c == ',' || c == '\t' || c == ';' || c == '|') {
        ++counts[c];
        state = 's';
      } else if (c == '"' && (state == 's' || state == 'c')) {
        state = 'q';
      } else if (c != ' ' || state == 'c') {
        state = 'p';
      }
    }
    char best = ',';
    for (const char c : {',', '\t', ';', '|'}) {
      if (counts[c] > counts[best]) best = c;
    }
    return best;
  }

  Record next(char delimiter) {
    Record record{line_, {}};
    for (bool more = true; more;) record.cells.push_back(next_cell(delimiter, more));
    return record;
  }

 private:
  std::string next_cell(char delimiter, bool& more) {
    std::string inside;
    std::string outside;
    bool quoted = false;
    for (; text_[i_] != delimiter && text_[i_] != '\n'; ++i_) {
      const bool only_blanks = outside.find_first_not_of(" \t") == std::string::npos;
      if (text_[i_] != '"' || quoted || !only_blanks) {
        outside += text_[i_];
        continue;
      }
      quoted = true;
      outside.clear();
      inside = quoted_part();
    }
    more = text_[i_] == delimiter;
    if (!more) {
      ++line_;
      if (!outside.empty() && outside.back() == '\r') outside.pop_back();
    }
    ++i_;
    if (quoted && outside.find_first_not_of(" \t") == std::string::npos) return inside;
    return inside + outside;
  }

  /// From an opening quote to its closing one, on which it stops.
  std::string quoted_part() {
    const std::size_t opened = line_;
    std::string out;
    for (++i_; i_ < text_.size(); ++i_) {
      if (text_[i_] == '"') {
        if (i_ + 1 == text_.size() || text_[i_ + 1] != '"') return out;
        ++i_;
      }
      if (text_[i_] == '\n') ++line_;
      out += text_[i_];
    }
    throw Fault{opened, "quote"};
  }

  std::string text_;
  std::size_t i_ = 0;
  std::size_t line_ = 1;
};

struct State {
  ColumnKind kind = ColumnKind::kAuto;
  bool automatic = false;
  std::size_t first_text_line = 0;
};

/// Settles what an automatic column is, or throws.
void learn(State& state, const std::string& cell, std::size_t line) {
  if (state.kind == ColumnKind::kSkip || is_missing(cell)) return;
  if (state.kind == ColumnKind::kText && !state.automatic) return;
  if (is_infinite_word(cell)) throw Fault{line, "infinite"};
  if (is_decimal(cell)) {
    if (std::isinf(std::strtod(stripped(cell).c_str(), nullptr))) throw Fault{line, "infinite"};
    if (state.kind == ColumnKind::kText) throw Fault{state.first_text_line, "number"};
    state.kind = ColumnKind::kNumber;
    return;
  }
  if (state.kind == ColumnKind::kNumber) throw Fault{line, "number"};
  if (state.kind == ColumnKind::kAuto) state.first_text_line = line;
  state.kind = ColumnKind::kText;
}

void fill(Column& column, const std::vector<std::string>& cells, bool raw) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (raw) {
      column.raw.bytes += cells[i];
      column.raw.ends.push_back(column.raw.bytes.size());
    }
    if (column.kind == ColumnKind::kSkip) continue;
    const bool missing = is_missing(cells[i]);
    if (missing && column.missing++ == 0) {
      column.first_missing = i;
      column.first_missing_text = stripped(cells[i]);
    }
    if (column.kind == ColumnKind::kNumber) {
      column.numbers.push_back(missing ? std::numeric_limits<double>::quiet_NaN()
                                       : std::strtod(stripped(cells[i]).c_str(), nullptr));
      continue;
    }
    auto found = std::find(column.vocabulary.begin(), column.vocabulary.end(), cells[i]);
    if (!missing && found == column.vocabulary.end()) {
      column.vocabulary.push_back(cells[i]);
      found = column.vocabulary.end() - 1;
    }
    column.codes.push_back(missing ? -1
                                   : static_cast<std::int32_t>(found - column.vocabulary.begin()));
  }
}

std::vector<std::string> read_names(Walker& walker, char& delimiter) {
  walker.skip_blank();
  if (walker.at_end()) throw Fault{0, "empty"};
  delimiter = walker.find_delimiter();
  Record record = walker.next(delimiter);
  std::set<std::string> seen;
  for (std::size_t c = 0; c < record.cells.size(); ++c) {
    record.cells[c] = stripped(record.cells[c]);
    if (record.cells[c].empty()) record.cells[c] = "unnamed_" + std::to_string(c);
    if (!seen.insert(record.cells[c]).second) throw Fault{record.line, "twice"};
  }
  return record.cells;
}

}  // namespace

std::string expected_reading(const std::string& text, const std::vector<ColumnRequest>& requests,
                             std::size_t batch_rows) {
  std::string out;
  try {
    Walker walker(text);
    char delimiter = ',';
    const std::vector<std::string> names = read_names(walker, delimiter);
    out += describe_header(names, delimiter);
    const std::size_t width = names.size();
    std::vector<State> states;
    for (std::size_t c = 0; c < width; ++c) {
      const ColumnKind kind = requests[c % requests.size()].kind;
      states.push_back({kind, kind == ColumnKind::kAuto, 0});
    }
    std::size_t blank = 0;
    for (;;) {
      Table batch;
      std::vector<std::vector<std::string>> cells(width);
      while (batch.lines.size() < batch_rows) {
        if (blank == 0) {
          const std::size_t line = walker.line();
          const std::size_t skipped = walker.skip_blank();
          if (walker.at_end()) break;
          if (skipped > 0 && width > 1) throw Fault{line, "ragged"};
          blank = skipped;
        }
        Record record{walker.line() - blank, {""}};
        blank > 0 ? void(--blank) : void(record = walker.next(delimiter));
        if (record.cells.size() != width) throw Fault{record.line, "ragged"};
        batch.lines.push_back(record.line);
        for (std::size_t c = 0; c < width; ++c) {
          learn(states[c], record.cells[c], record.line);
          cells[c].push_back(record.cells[c]);
        }
      }
      for (std::size_t c = 0; c < width; ++c) {
        if (states[c].kind == ColumnKind::kAuto) states[c].kind = ColumnKind::kNumber;
        Column column;
        column.name = names[c];
        column.kind = states[c].kind;
        fill(column, cells[c], requests[c % requests.size()].raw);
        batch.columns.push_back(std::move(column));
      }
      out += describe(batch, requests);
      if (batch.rows() == 0) return out;
    }
  } catch (const Fault& fault) {
    return out + fmt::format("error {} {}\n", fault.line, fault.kind);
  }
}

std::string describe(const Table& batch, const std::vector<ColumnRequest>& requests) {
  std::string out = fmt::format("{} rows, lines {}\n", batch.rows(), fmt::join(batch.lines, " "));
  for (std::size_t c = 0; c < batch.columns.size(); ++c) {
    const Column& column = batch.columns[c];
    out += fmt::format("'{}' kind {} missing {} first {} '{}' numbers", column.name,
                       static_cast<int>(column.kind), column.missing, column.first_missing,
                       column.first_missing_text);
    for (const double v : column.numbers) {
      out += std::isnan(v) ? " nan" : fmt::format(" {:x}", std::bit_cast<std::uint64_t>(v));
    }
    out += fmt::format(" codes {} texts <{}>", fmt::join(column.codes, " "),
                       fmt::join(column.vocabulary, "><"));
    if (requests[c % requests.size()].raw) {
      for (std::size_t i = 0; i < batch.rows(); ++i) out += fmt::format(" [{}]", column.raw[i]);
    }
    out += '\n';
  }
  return out;
}

std::string describe_header(const std::vector<std::string>& header, char delimiter) {
  return fmt::format("header <{}> delimiter {}\n", fmt::join(header, "><"),
                     static_cast<int>(delimiter));
}

std::string describe_error(const std::string& message) {
  constexpr std::string_view kName = "cars.csv:";
  const std::map<std::string, std::string> kinds = {
      {"the file is empty", "empty"},     {"appears twice", "twice"},
      {"where the header has", "ragged"}, {"never closed", "quote"},
      {"is not finite", "infinite"},      {"is not a number", "number"}};
  for (const auto& [phrase, kind] : kinds) {
    if (!message.starts_with(kName) || message.find(phrase) == std::string::npos) continue;
    return fmt::format("error {} {}\n", std::atoi(message.c_str() + kName.size()), kind);
  }
  return "error of another kind: " + message + "\n";
}

}  // namespace tare::oracle
