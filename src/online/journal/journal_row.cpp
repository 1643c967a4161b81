// SPDX-License-Identifier: BSD-3-Clause
#include "online/journal/journal_row.h"

#include <bit>
#include <cmath>

#include "base/fail.h"

namespace tare {
namespace {

constexpr std::size_t kNumberBytes = 8;
constexpr std::size_t kFixedBytes = 4 * kNumberBytes + 1;

void put_long(std::string& out, std::uint64_t value) {
  for (unsigned shift = 0; shift < 64; shift += 8) out += static_cast<char>(value >> shift & 0xFFU);
}

void put_double(std::string& out, double value) {
  put_long(out, std::bit_cast<std::uint64_t>(value));
}

std::uint64_t take_long(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kNumberBytes; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  bytes.remove_prefix(kNumberBytes);
  return value;
}

double take_double(std::string_view& bytes) {
  const auto value = std::bit_cast<double>(take_long(bytes));
  if (!std::isfinite(value)) fail(ErrorCode::kCorruptFile, "a row has a number that is not finite");
  return value;
}

}  // namespace

void append_journal_row(std::string& out, const JournalRow& row) {
  put_long(out, row.sequence);
  put_double(out, row.prediction);
  put_double(out, row.target);
  put_double(out, row.answer);
  out += static_cast<char>(row.id.size());
  out += row.id;
  for (const double value : row.x) put_double(out, value);
}

JournalRow read_journal_row(std::string_view bytes, std::size_t features) {
  const std::size_t id =
      bytes.size() < kFixedBytes ? 0 : static_cast<unsigned char>(bytes[kFixedBytes - 1]);
  if (id > kLongestRowId || bytes.size() != kFixedBytes + id + features * kNumberBytes) {
    fail(ErrorCode::kCorruptFile, "a row has {} bytes, which is not a row of {} features",
         bytes.size(), features);
  }
  JournalRow row;
  row.sequence = take_long(bytes);
  row.prediction = take_double(bytes);
  row.target = take_double(bytes);
  row.answer = std::bit_cast<double>(take_long(bytes));
  row.id = bytes.substr(1, id);
  bytes.remove_prefix(1 + id);
  row.x.reserve(features);
  for (std::size_t j = 0; j < features; ++j) row.x.push_back(take_double(bytes));
  return row;
}

}  // namespace tare
