// SPDX-License-Identifier: BSD-3-Clause
#include "io/csv_plain.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <system_error>

#include "base/parallel.h"

namespace tare {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1}
                                    << 16;  // below this a thread costs more than it saves

/// The end of a skipped cell, or null where it is not plain.
const char* skip_cell(const char* p, const char* last, char delimiter) {
  for (; p != last; ++p) {
    if (*p == delimiter || *p == '\n') return p;
    if (*p == '"') return nullptr;
  }
  return nullptr;
}

/// Reads one row into `values` and returns where the next one starts, or null where this one is not
/// plain.
const char* plain_row(const char* p, const char* last, char delimiter,
                      std::span<const std::uint8_t> wanted, double* values) {
  for (std::size_t c = 0; c < wanted.size(); ++c) {
    const char* end = nullptr;
    if (wanted[c] != 0) {
      const auto [stop, error] = fast_float::from_chars(p, last, values[c]);
      if (error != std::errc{} || !std::isfinite(values[c])) return nullptr;
      end = stop;
    } else {
      end = skip_cell(p, last, delimiter);
      if (end == nullptr) return nullptr;
      if (c + 1 == wanted.size() && end > p && end[-1] == '\r') --end;
      // A line with nothing in it is a row only where another row follows.
      const auto is_space = [](char one) { return one == ' ' || one == '\t' || one == '\r'; };
      if (wanted.size() == 1 && std::all_of(p, end, is_space)) return nullptr;
    }
    if (c + 1 < wanted.size()) {
      if (end == last || *end != delimiter) return nullptr;
      p = end + 1;
      continue;
    }
    if (end != last && *end == '\r') ++end;
    return end != last && *end == '\n' ? end + 1 : nullptr;
  }
  return nullptr;
}

void read_piece(const char* first, const char* last, char delimiter,
                std::span<const std::uint8_t> wanted, PlainRows& out) {
  std::vector<double> values(wanted.size());
  out.end = first;
  while (out.end != last) {
    const char* next = plain_row(out.end, last, delimiter, wanted, values.data());
    if (next == nullptr) return;
    for (std::size_t c = 0; c < wanted.size(); ++c) {
      if (wanted[c] != 0) out.columns[c].push_back(values[c]);
    }
    ++out.rows;
    out.end = next;
  }
}

/// Where the pieces begin, each behind a line break, and behind them the end.
std::vector<const char*> cut(const char* first, const char* last, std::size_t pieces) {
  std::vector<const char*> cuts = {first};
  const auto size = static_cast<std::size_t>(last - first);
  for (std::size_t k = 1; k < pieces; ++k) {
    const char* from = std::max(first + size / pieces * k, cuts.back());
    const void* found = std::memchr(from, '\n', static_cast<std::size_t>(last - from));
    if (found == nullptr) break;
    const char* place = static_cast<const char*>(found) + 1;
    if (place != last && place != cuts.back()) cuts.push_back(place);
  }
  cuts.push_back(last);
  return cuts;
}

void append(const PlainRows& piece, PlainRows& out) {
  for (std::size_t c = 0; c < out.columns.size(); ++c) {
    out.columns[c].insert(out.columns[c].end(), piece.columns[c].begin(), piece.columns[c].end());
  }
  out.rows += piece.rows;
  out.end = piece.end;
}

}  // namespace

void read_plain_rows(const char* first, const char* last, char delimiter,
                     std::span<const std::uint8_t> wanted, std::size_t threads,
                     std::vector<PlainRows>& pieces, PlainRows& out) {
  const auto size = static_cast<std::size_t>(last - first);
  const Execution how{.threads = threads, .progress = {}};
  const std::size_t count = std::clamp<std::size_t>(size / kPieceBytes, 1, thread_count(how));
  if (count == 1) return read_piece(first, last, delimiter, wanted, out);

  const auto cuts = cut(first, last, count);
  pieces.resize(std::max(pieces.size(), cuts.size() - 1));
  parallel_for(how, cuts.size() - 1, [&](std::size_t k) {
    pieces[k].rows = 0;
    pieces[k].columns.resize(wanted.size());
    for (std::vector<double>& column : pieces[k].columns) column.clear();
    read_piece(cuts[k], cuts[k + 1], delimiter, wanted, pieces[k]);
  });
  out.end = first;
  for (std::size_t k = 0; k + 1 < cuts.size() && out.end == cuts[k]; ++k) append(pieces[k], out);
}

}  // namespace tare
