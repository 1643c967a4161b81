// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/loose/loose_guarantee.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/fail.h"
#include "calibrate/guarantee/loose/loose_levels.h"
#include "tare/calibrate/description.h"

namespace tare {

LooseGuarantee::LooseGuarantee(std::unique_ptr<const QuantileModel> whole,
                               std::unique_ptr<const GuaranteedModel> proof)
    : ModelAround(std::move(whole)), proof_(std::move(proof)) {}

LooseGuarantee::Backing LooseGuarantee::backing_of(std::span<const Level> levels) const {
  const Mass all = proof_->overall().mass();
  const Mass fresh = proof_->most_fresh(proof_->overall());
  Backing backing;
  for (const Level& level : levels) {
    const std::optional<BackingLevel> own = backing_level(level, all, fresh);
    if (!own) {
      backing.column.emplace_back(std::nullopt);
      continue;
    }
    const auto at = std::ranges::find(backing.levels, own->level);
    backing.column.emplace_back(static_cast<std::size_t>(at - backing.levels.begin()));
    if (at == backing.levels.end()) backing.levels.push_back(own->level);
  }
  return backing;
}

Prediction LooseGuarantee::predict_ascending(const Rows& rows, std::span<const Level> levels,
                                             const Execution& how) const {
  Prediction result = inner().predict({rows.x, rows.given}, levels, how);
  const Backing backing = backing_of(levels);
  if (backing.levels.empty()) return result;
  const Matrix proof = proof_->predict(rows, backing.levels, how).quantiles;
  for (std::size_t i = 0; i < rows.x.rows(); ++i) {
    for (std::size_t j = 0; j < levels.size(); ++j) {
      if (!backing.column[j]) continue;
      const double bound = proof(i, *backing.column[j]);
      double& own = result.quantiles(i, j);
      own = levels[j].value() >= 0.5 ? std::max(own, bound) : std::min(own, bound);
    }
  }
  return result;
}

Matrix LooseGuarantee::delivered(const Rows& rows, std::span<const Level> levels) const {
  const Backing backing = backing_of(levels);
  const Matrix kept = proof_->delivered(rows, backing.levels);
  if (!proof_->delivers_levels()) return {};
  Matrix result(rows.x.rows(), levels.size());
  for (std::size_t i = 0; i < result.rows(); ++i) {
    for (std::size_t j = 0; j < levels.size(); ++j) {
      const double nothing = levels[j].value() >= 0.5 ? 0.0 : 1.0;
      result(i, j) = backing.column[j] ? kept(i, *backing.column[j]) : nothing;
    }
  }
  return result;
}

Matrix LooseGuarantee::own_quantiles(const Rows& rows, std::span<const Level> levels,
                                     const Execution& how) const {
  return inner().own_quantiles({rows.x, rows.given}, levels, how);
}

void LooseGuarantee::describe(Description& description) const {
  Description of_proof;
  proof_->describe(of_proof);
  inner().describe(description);
  GuaranteeDescription own = std::move(*of_proof.guarantee);
  own.form = GuaranteeForm::kLoose;
  own.own_levels = true;
  own.cost.reset();  // is about the second model
  const Mass all = proof_->overall().mass();
  const Mass fresh = proof_->most_fresh(proof_->overall());
  for (IntervalCoverage& interval : own.intervals) {
    const auto [low, high] = interval_levels(interval.confidence);
    const std::optional<BackingLevel> below = backing_level(low, all, fresh);
    const std::optional<BackingLevel> above = backing_level(high, all, fresh);
    interval.on_average = 0.0;
    interval.kept = below && above && below->kept && above->kept;
    if (below && above) {
      // Whole ranks prove a little more than the levels, where rows count alike.
      const GuaranteeRanks& ranks = proof_->overall().folds().front();
      const double covered = own.has_bound
                                 ? ranks.delivered(above->level) - ranks.delivered(below->level)
                                 : above->level.value() - below->level.value();
      interval.on_average = std::max(0.0, covered);
    }
    if (own.has_bound) interval.proven = interval.on_average;
  }
  description.guarantee = std::move(own);
}

void LooseGuarantee::save(const TensorWriter& out) const {
  inner().save(out);
  const TensorWriter part = out.part("loose");
  part.value("form", "split");
  proof_->save(part.part("proof"));
}

std::unique_ptr<LooseGuarantee> LooseGuarantee::load(const TensorReader& in,
                                                     const GuaranteedModel::LoadInner& load_inner) {
  const TensorReader part = in.part("loose");
  std::unique_ptr<const QuantileModel> whole = load_inner(in);
  std::unique_ptr<GuaranteedModel> proof = GuaranteedModel::load(part.part("proof"), load_inner);
  const bool right = part.get<std::string>("form") == "split" && proof->folds() == 1 &&
                     proof->features() == whole->features() && proof->given() == whole->given();
  if (!right) fail(ErrorCode::kCorruptFile, "the model file's guarantee is damaged");
  return std::make_unique<LooseGuarantee>(std::move(whole), std::move(proof));
}

}  // namespace tare
