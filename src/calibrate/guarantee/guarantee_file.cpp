// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/guarantee_file.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/fail.h"

namespace tare {
namespace {

constexpr const char* kPlacesOnCurves = "curve";

[[noreturn]] void fail_damaged() {
  fail(ErrorCode::kCorruptFile, "the model file's guarantee is damaged");
}

/// Files have no unsigned numbers of 64 bits; masses are below 2^63.
std::int64_t to_file(Mass mass) { return static_cast<std::int64_t>(mass); }

Mass from_file(std::int64_t value) {
  if (value < 0) fail_damaged();
  return static_cast<Mass>(value);
}

/// Scores of one side, of one fold of one line after the other.
struct StepColumns {
  std::vector<double> at, beyond;
  std::vector<std::int64_t> mass;
  std::vector<std::int32_t> count;
  std::size_t next = 0;  // the first that was not taken yet
  std::size_t part = 0;

  void add(const ScoreSteps& steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      at.push_back(steps.place[i].at);
      beyond.push_back(steps.place[i].beyond);
      mass.push_back(to_file(steps.mass_of(i)));
    }
    count.push_back(static_cast<std::int32_t>(steps.size()));
  }

  ScoreSteps take() {
    const std::int32_t steps = count[part++];
    if (steps < 0 || static_cast<std::size_t>(steps) > at.size() - next) fail_damaged();
    ScoreSteps result;
    for (std::int32_t i = 0; i < steps; ++i, ++next) {
      result.add({at[next], beyond[next]}, from_file(mass[next]));
    }
    return result;
  }

  bool all_taken() const { return next == at.size(); }

  void save(const TensorWriter& out, const std::string& name, const Shape& parts) const {
    out.tensor(name + "_at", at);
    out.tensor(name + "_beyond", beyond);
    out.tensor(name + "_mass", mass);
    out.tensor(name + "_count", std::span<const std::int32_t>(count), parts);
  }

  static StepColumns load(const TensorReader& in, const std::string& name, const Shape& parts) {
    StepColumns columns;
    columns.at = in.list<double>(name + "_at");
    const Shape shape = {columns.at.size()};
    columns.beyond = in.values<double>(name + "_beyond", shape);
    columns.mass = in.values<std::int64_t>(name + "_mass", shape);
    columns.count = in.values<std::int32_t>(name + "_count", parts);
    return columns;
  }
};

/// Of a file of an earlier version, whose scores were whole knots: for each knot the mass of the
/// rows up to it, and the rows outside all knots, of one fold of one line after the other.
struct KnotColumns {
  std::vector<std::int64_t> up_to;  // of all parts and knots
  std::vector<double> beyond;
  std::vector<std::int64_t> mass;
  std::vector<std::int32_t> count;
  std::size_t knots = 0;
  std::size_t next = 0;
  std::size_t part = 0;

  /// Rows outside lie beyond knot `end`, and come first or last.
  ScoreSteps take(std::size_t end) {
    const std::int32_t outside = count[part];
    if (outside < 0 || static_cast<std::size_t>(outside) > beyond.size() - next) fail_damaged();
    ScoreSteps steps;
    if (end > 0) take_knots(steps);
    for (std::int32_t i = 0; i < outside; ++i, ++next) {
      steps.add({static_cast<double>(end), beyond[next]}, from_file(mass[next]));
    }
    if (end == 0) take_knots(steps);
    ++part;
    return steps;
  }

  void take_knots(ScoreSteps& steps) const {
    Mass before = 0;
    for (std::size_t k = 0; k < knots; ++k) {
      const Mass reached = from_file(up_to[part * knots + k]);
      if (reached < before) fail_damaged();
      if (reached > before) steps.add({static_cast<double>(k)}, reached - before);
      before = reached;
    }
  }

  bool all_taken() const { return next == beyond.size(); }

  static KnotColumns load(const TensorReader& in, const std::string& side,
                          const std::string& outside, const Shape& table) {
    KnotColumns columns;
    columns.up_to = in.values<std::int64_t>(side, table);
    columns.beyond = in.list<double>(outside);
    columns.mass = in.values<std::int64_t>(outside + "_mass", {columns.beyond.size()});
    columns.count = in.values<std::int32_t>(outside + "_count", {table[0], table[1]});
    columns.knots = table[2];
    return columns;
  }
};

/// What every part has, and the steps that `take_upper` and `take_lower` give for the next one.
template <class TakeUpper, class TakeLower>
std::vector<FoldRanks> make_lines(const TensorReader& in, const Shape& table,
                                  const TakeUpper& take_upper, const TakeLower& take_lower) {
  const Shape parts = {table[0], table[1]};
  const auto rows = in.values<std::int32_t>("rows", parts);
  const auto largest = in.values<std::int64_t>("largest", parts);
  std::vector<FoldRanks> lines;
  for (std::size_t part = 0; part < rows.size();) {
    std::vector<GuaranteeRanks> own;
    for (std::size_t k = 0; k < parts[1]; ++k, ++part) {
      if (rows[part] < 1) fail_damaged();
      GuaranteeRanks::Parts ranks{.rows = static_cast<std::size_t>(rows[part]),
                                  .largest = from_file(largest[part]),
                                  .upper = take_upper(),
                                  .lower = take_lower()};
      own.push_back(GuaranteeRanks::from_parts(std::move(ranks), table[2]));
    }
    lines.emplace_back(std::move(own));
  }
  return lines;
}

std::vector<FoldRanks> load_knot_ranks(const TensorReader& in, const Shape& table) {
  KnotColumns upper = KnotColumns::load(in, "upper", "above", table);
  KnotColumns lower = KnotColumns::load(in, "lower", "below", table);
  std::vector<FoldRanks> lines = make_lines(
      in, table, [&] { return upper.take(table[2] - 1); }, [&] { return lower.take(0); });
  if (!upper.all_taken() || !lower.all_taken()) fail_damaged();
  return lines;
}

}  // namespace

void save_ranks(const TensorWriter& out, std::span<const FoldRanks> lines) {
  std::vector<std::int64_t> largest;
  std::vector<std::int32_t> rows;
  StepColumns upper, lower;
  for (const FoldRanks& line : lines) {
    for (const GuaranteeRanks& fold : line.folds()) {
      upper.add(fold.upper());
      lower.add(fold.lower());
      rows.push_back(static_cast<std::int32_t>(fold.rows()));
      largest.push_back(to_file(fold.largest()));
    }
  }
  const Shape parts = {lines.size(), lines.front().folds().size()};
  out.value("scores", kPlacesOnCurves);
  out.tensor("rows", std::span<const std::int32_t>(rows), parts);
  out.tensor("largest", std::span<const std::int64_t>(largest), parts);
  upper.save(out, "upper", parts);
  lower.save(out, "lower", parts);
}

bool are_places_on_curves(const TensorReader& in) { return in.has_value("scores"); }

std::vector<FoldRanks> load_ranks(const TensorReader& in, std::size_t folds, std::size_t knots) {
  const Shape parts = in.shape("rows");
  if (parts.size() != 2 || parts[0] < 1 || parts[1] != folds) fail_damaged();
  const Shape table = {parts[0], parts[1], knots};
  if (!are_places_on_curves(in)) return load_knot_ranks(in, table);
  if (in.get<std::string>("scores") != kPlacesOnCurves) {
    fail(ErrorCode::kCorruptFile, "the model file's guarantee has scores of a kind unknown here");
  }
  StepColumns upper = StepColumns::load(in, "upper", parts);
  StepColumns lower = StepColumns::load(in, "lower", parts);
  std::vector<FoldRanks> lines = make_lines(
      in, table, [&] { return upper.take(); }, [&] { return lower.take(); });
  if (!upper.all_taken() || !lower.all_taken()) fail_damaged();
  return lines;
}

}  // namespace tare
