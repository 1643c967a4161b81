// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee_file.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/fail.h"

namespace tare {
namespace {

using Counts = GuaranteeRanks::Counts;

[[noreturn]] void fail_damaged() {
  fail(ErrorCode::kCorruptFile, "the model file's guarantee is damaged");
}

/// Files have no unsigned numbers of 64 bits; masses are below 2^63.
std::int64_t to_file(Mass mass) { return static_cast<std::int64_t>(mass); }

Mass from_file(std::int64_t value) {
  if (value < 0) fail_damaged();
  return static_cast<Mass>(value);
}

/// Rows outside all knots, of one fold of one line after the other.
struct OutsideColumns {
  std::vector<double> beyond;
  std::vector<std::int64_t> mass;
  std::vector<std::int32_t> count;
  std::size_t next = 0;  // the first that was not taken yet
  std::size_t part = 0;

  void add(std::span<const GuaranteeRanks::Outside> rows) {
    for (const auto& row : rows) {
      beyond.push_back(row.beyond);
      mass.push_back(to_file(row.mass));
    }
    count.push_back(static_cast<std::int32_t>(rows.size()));
  }

  std::vector<GuaranteeRanks::Outside> take() {
    const std::int32_t rows = count[part++];
    if (rows < 0 || static_cast<std::size_t>(rows) > beyond.size() - next) fail_damaged();
    std::vector<GuaranteeRanks::Outside> result;
    for (std::int32_t i = 0; i < rows; ++i, ++next) {
      result.push_back({beyond[next], from_file(mass[next])});
    }
    return result;
  }

  void save(const TensorWriter& out, const std::string& name, const Shape& parts) const {
    out.tensor(name, beyond);
    out.tensor(name + "_mass", mass);
    out.tensor(name + "_count", std::span<const std::int32_t>(count), parts);
  }

  static OutsideColumns load(const TensorReader& in, const std::string& name, const Shape& parts) {
    OutsideColumns columns;
    columns.beyond = in.values<double>(name, in.shape(name));
    columns.mass = in.values<std::int64_t>(name + "_mass", {columns.beyond.size()});
    columns.count = in.values<std::int32_t>(name + "_count", parts);
    return columns;
  }
};

void append_masses(std::vector<std::int64_t>& all, std::span<const Mass> masses) {
  std::ranges::transform(masses, std::back_inserter(all), to_file);
}

std::vector<Mass> masses_at(std::span<const std::int64_t> all, std::size_t part,
                            std::size_t count) {
  std::vector<Mass> result;
  std::ranges::transform(all.subspan(part * count, count), std::back_inserter(result), from_file);
  return result;
}

}  // namespace

void save_ranks(const TensorWriter& out, std::span<const FoldRanks> lines, std::size_t knots) {
  std::vector<std::int64_t> upper, lower, largest;
  std::vector<std::int32_t> rows;
  OutsideColumns above, below;
  for (const FoldRanks& line : lines) {
    for (const GuaranteeRanks& fold : line.folds()) {
      const Counts counts = fold.counts();
      append_masses(upper, counts.upper);
      append_masses(lower, counts.lower);
      above.add(counts.above);
      below.add(counts.below);
      rows.push_back(static_cast<std::int32_t>(counts.rows));
      largest.push_back(to_file(counts.largest));
    }
  }
  const Shape parts = {lines.size(), lines.front().folds().size()};
  const Shape table = {parts[0], parts[1], knots};
  out.tensor("rows", std::span<const std::int32_t>(rows), parts);
  out.tensor("largest", std::span<const std::int64_t>(largest), parts);
  out.tensor("upper", std::span<const std::int64_t>(upper), table);
  out.tensor("lower", std::span<const std::int64_t>(lower), table);
  above.save(out, "above", parts);
  below.save(out, "below", parts);
}

std::vector<FoldRanks> load_ranks(const TensorReader& in, std::size_t folds, std::size_t knots) {
  const Shape parts = in.shape("rows");
  if (parts.size() != 2 || parts[0] < 1 || parts[1] != folds) fail_damaged();
  const Shape table = {parts[0], parts[1], knots};
  const auto rows = in.values<std::int32_t>("rows", parts);
  const auto largest = in.values<std::int64_t>("largest", parts);
  const auto upper = in.values<std::int64_t>("upper", table);
  const auto lower = in.values<std::int64_t>("lower", table);
  OutsideColumns above = OutsideColumns::load(in, "above", parts);
  OutsideColumns below = OutsideColumns::load(in, "below", parts);
  std::vector<FoldRanks> lines;
  for (std::size_t part = 0; part < rows.size();) {
    std::vector<GuaranteeRanks> own;
    for (std::size_t k = 0; k < folds; ++k, ++part) {
      if (rows[part] < 1) fail_damaged();
      own.push_back(GuaranteeRanks::from_counts({.rows = static_cast<std::size_t>(rows[part]),
                                                 .largest = from_file(largest[part]),
                                                 .upper = masses_at(upper, part, knots),
                                                 .lower = masses_at(lower, part, knots),
                                                 .above = above.take(),
                                                 .below = below.take()}));
    }
    lines.emplace_back(std::move(own));
  }
  if (above.next != above.beyond.size() || below.next != below.beyond.size()) fail_damaged();
  return lines;
}

}  // namespace tare
