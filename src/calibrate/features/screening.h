// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"
#include "tare/base/params.h"
#include "tare/base/rng.h"

namespace tare {

struct Description;

/// How strongly the conditional distribution of a residual depends on one column.
struct ScreenedColumn {
  std::size_t column = 0;
  double strength = 0.0;  // in standard deviations above the mean for unrelated columns
  double p_value = 1.0;   // of no dependence, corrected for looking at all columns
};

/// A column whose p-value is at most this is kept.
inline constexpr double kScreenLevel = 0.05;

/// Tests for each column of x whether the distribution of u depends on it: its location, its spread
/// or its shape. Rows are put into up to eight bins of the column, equal values together, and the
/// shares of u below its nine deciles are compared between the bins (a k-sample Anderson-Darling
/// statistic on a grid). Its distribution without dependence is estimated by `permutations` random
/// permutations of u. The p-value compares with the largest standardised statistic of each
/// permutation over all columns, so the probability that any unrelated column is kept is at most
/// kScreenLevel. A column that matters only together with another one is not detected. If there are
/// more than 20,000 rows, a random sample of 20,000 is used. If `gap` is above 0, the rows are in
/// time order, and random rotations of u by at least `gap` rows replace permutations, because they
/// preserve the similarity of successive rows. The result does not depend on threads; as many
/// entries as x has columns, in their order.
std::vector<ScreenedColumn> screen_columns(MatrixView x, std::span<const double> u,
                                           std::size_t permutations, Seed seed,
                                           const Execution& how, std::size_t gap = 0);

/// The columns that are kept.
std::vector<std::size_t> kept_columns(std::span<const ScreenedColumn> screened);

/// The option, for the methods that have it, and its value.
inline constexpr ParamInfo kScreenOption = {
    "screen", "no",
    "restrict the kernel to columns on which the distribution of the residual depends: yes, no"};
bool parse_screen(const Params& params);

/// With the names of the columns.
void describe_screened(std::span<const ScreenedColumn> screened, Description& description);
/// Nothing is written where nothing was screened.
void save_screened(std::span<const ScreenedColumn> screened, const TensorWriter& out);
/// Throws kCorruptFile where a column is not below `columns`.
std::vector<ScreenedColumn> load_screened(const TensorReader& in, std::size_t columns);

}  // namespace tare
