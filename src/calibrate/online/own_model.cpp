// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/online/own_model.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"

namespace tare {
namespace {

constexpr std::array<std::string_view, 3> kOwnKinds = {"boosting", "extra_trees", "forest"};

}  // namespace

OwnModel::OwnModel(std::size_t features, Seed seed) : features_(features), seed_(seed) {}

void OwnModel::predict(MatrixView x, std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  std::vector<double> one(out.size());
  for (const Member& member : members_) {
    member.model->predict(x, one, one_thread());
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] += one[i] / static_cast<double>(members_.size());
    }
  }
}

void OwnModel::learn(std::span<const double> x, double y) {
  if (features_ == 0) return;  // nothing to predict from
  if (y_.size() < kMostRows) {
    x_.insert(x_.end(), x.begin(), x.end());
    y_.push_back(y);
  } else {
    const std::size_t at = learned_ % kMostRows;
    std::copy(x.begin(), x.end(), x_.begin() + static_cast<std::ptrdiff_t>(at * features_));
    y_[at] = y;
  }
  if (++learned_ >= next_fit_) fit();
}

void OwnModel::fit() {
  next_fit_ = learned_ + std::max<std::uint64_t>(10, learned_ / 10);
  const MatrixView x(x_.data(), y_.size(), features_);
  members_.clear();
  for (const RegressorKind& kind : regressors()) {
    if (std::find(kOwnKinds.begin(), kOwnKinds.end(), kind.name) == kOwnKinds.end()) continue;
    members_.push_back({kind.name, kind.fit({x, y_, {}}, {}, split(seed_, learned_), {})});
  }
}

void OwnModel::save(const TensorWriter& out) const {
  out.value("seed", seed_.value);
  out.tensor<double>("x", x_, {y_.size(), features_});
  out.tensor("y", y_);
  out.value("learned", learned_);
  out.value("next_fit", next_fit_);
  for (const Member& member : members_) member.model->save(out.part(member.kind));
  std::vector<std::string> kinds;
  for (const Member& member : members_) kinds.emplace_back(member.kind);
  out.value("kinds", kinds);
}

OwnModel OwnModel::load(const TensorReader& in, std::size_t features) {
  constexpr std::size_t kMost = std::size_t{1} << 53;
  OwnModel own(features, Seed{in.count("seed", std::numeric_limits<std::uint64_t>::max())});
  own.y_ = in.list<double>("y", Must::kBeFinite);
  if (own.y_.size() > kMostRows) fail(ErrorCode::kCorruptFile, "the state has too many rows");
  own.x_ = in.values<double>("x", {own.y_.size(), features}, Must::kBeFinite);
  own.learned_ = in.count("learned", kMost);
  own.next_fit_ = in.count("next_fit", kMost);
  if (own.learned_ < own.y_.size()) fail(ErrorCode::kCorruptFile, "the state has too many rows");
  for (const std::string& name : in.get<std::vector<std::string>>("kinds")) {
    const RegressorKind& kind = find_regressor(name);
    std::unique_ptr<const Regressor> model = kind.load(in.part(kind.name));
    if (model->features() != features) {
      fail(ErrorCode::kCorruptFile, "the state's own model has other columns");
    }
    own.members_.push_back({kind.name, std::move(model)});
  }
  return own;
}

}  // namespace tare
