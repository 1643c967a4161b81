// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "calibrate/guarantee/guarantee_split.h"
#include "calibrate/guarantee/local/local_features.h"
#include "calibrate/guarantee/ranks/guarantee_mass.h"
#include "calibrate/guarantee/row_rule.h"

namespace tare {

/// Ranks among held-out rows that count by a kernel around the new row (randomly localised
/// conformal prediction: Hore, Barber 2023; Guan 2023).
///
/// A point z' is drawn from the kernel's density around the features z of the new row. A held-out
/// row counts by the kernel between its features and z', and so does the new row. Given z' and all
/// n + 1 rows without their order, the new row is each of them with a probability in proportion to
/// this weight, so a weighted rank keeps its level for every n: P(y <= Q) >= tau over draws of rows
/// and of z'. Kernel, features and bandwidth must not depend on the ranked rows.
///
/// With `fixed`, z' = z. The argument then fails: weights depend on which row is the new one, and
/// nothing is proven.
///
/// Where the new row has more than 1 - tau of the weight, no bound has the level. The outermost
/// score, which the answer is then at least, misses no more often than the largest share of the
/// weight of one row: `delivered` is 1 minus that. It is known given z' and the rows without their
/// order, so that levels hold on average over rows of any delivered level.
///
/// Weights are whole numbers of 2^-32 of the largest: an infinite bandwidth has the ranks of a
/// split.
class LocalRanks final : public RowRule {
 public:
  static constexpr std::string_view kForm = "local";

  struct Options {
    Seed seed = {};      // of the draws
    bool fixed = false;  // no draws
    OuterLevels outer = OuterLevels::kOwnTail;
  };
  /// `rows` are the held-out rows of the scores.
  LocalRanks(LocalChoice choice, const Options& options, const Rows& rows,
             const QuantileModel& inner, std::span<const RowScore> scores, const Execution& how);

  void bounds(const Rows& rows, const QuantileModel& inner, std::span<const Level> levels,
              const Execution& how, std::span<RowBound> result) const override;
  bool is_proven() const override { return !options_.fixed; }
  void describe(GuaranteeDescription& description) const override;
  void save(const TensorWriter& out) const override;
  /// `inputs`: columns of x. Throws kCorruptFile.
  static std::unique_ptr<const LocalRanks> load(const TensorReader& in, std::size_t inputs);

 private:
  struct Scratch;

  LocalRanks() = default;
  /// Masses of the held-out rows around a point, in the order of upper_, and of the new row.
  Mass weigh(std::span<const double> z, Seed seed, Scratch& scratch) const;
  void bound_row(std::span<const Level> levels, Mass fresh, Scratch& scratch,
                 std::span<RowBound> result) const;
  bool everywhere_alike() const noexcept;

  LocalChoice choice_;
  Options options_;
  std::vector<CurvePlace> upper_;         // ascending
  std::vector<CurvePlace> lower_;         // ascending
  std::vector<std::uint32_t> lower_row_;  // the place in upper_ of the row of each of lower_
  std::vector<double> z_;                 // features of the rows of upper_, column by column
};

}  // namespace tare
