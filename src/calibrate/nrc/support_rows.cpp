// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/nrc/support_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/fail.h"
#include "base/parallel.h"
#include "calibrate/snq/window/local_sample.h"
#include "calibrate/snq/window/support_radius.h"
#include "data/rows.h"

namespace tare {
namespace {

constexpr std::size_t kMostSupportRows = 2'048;

}  // namespace

SupportRows SupportRows::learn(MatrixView x, const Execution& how) {
  SupportRows support;
  std::vector<std::size_t> some;
  const std::size_t step = (x.rows() + kMostSupportRows - 1) / kMostSupportRows;
  for (std::size_t i = 0; i < x.rows(); i += step) some.push_back(i);
  support.map_ = FeatureMap::fit(x, {}, all_rows(x.rows()), {}, Seed{});
  const Matrix z = support.map_.apply(take_rows(x, some));
  support.rows_ = BruteForce(z, all_rows(some.size()));
  support.radius_ = support_radius(support.rows_, how);
  return support;
}

const KdTree& SupportRows::tree() const {
  std::call_once(tree_->once, [&] {
    tree_->tree = std::make_unique<const KdTree>(rows_.columns(), rows_.rows(), rows_.dims());
  });
  return *tree_->tree;
}

void SupportRows::judge(MatrixView x, const Execution& how, Prediction& result) const {
  const Matrix z = map_.apply(x);
  const KdTree& near = tree();
  result.nearest.assign(z.rows(), 0.0);
  result.outside.assign(z.rows(), 0);
  constexpr std::size_t kBlock = 64;
  parallel_blocks(how, z.rows(), kBlock, [&](std::size_t first, std::size_t last) {
    KdTree::Nearest spare;
    for (std::size_t i = first; i < last; ++i) {
      const auto query = z.row(i);
      const bool finite = std::ranges::all_of(query, [](double v) { return std::isfinite(v); });
      const double squared = finite ? near.nearest(query, 1, LocalSample::kFarthestRow, spare)
                                    : LocalSample::kFarthestRow;
      result.nearest[i] = std::sqrt(squared);
      result.outside[i] = result.nearest[i] > radius_ ? 1 : 0;
    }
  });
}

void SupportRows::save(const TensorWriter& out) const {
  map_.save(out);
  out.value("rows", rows_.rows());
  out.tensor("rows", rows_.columns(), {rows_.dims(), rows_.rows()});
  out.tensor("radius", std::vector<double>{radius_});  // may be infinite
}

SupportRows SupportRows::load(const TensorReader& in) {
  SupportRows support;
  support.map_ = FeatureMap::load(in);
  const std::size_t rows = in.count("rows", kMostSupportRows);
  const std::size_t dims = support.map_.dims();
  const auto columns = in.tensor<double>("rows", {dims, rows}, Must::kBeFinite);
  support.radius_ = in.values<double>("radius", {1})[0];
  if (rows == 0 || !(support.radius_ >= 0.0)) {
    fail(ErrorCode::kCorruptFile, "the model file's support is damaged");
  }
  support.rows_ = BruteForce(columns, rows, dims);
  return support;
}

}  // namespace tare
