// SPDX-License-Identifier: BSD-3-Clause
#include "base/fail.h"
#include "model/tree/xgboost_train.h"

// The build without XGBoost: neither class can be made, so nothing else can be reached.

namespace tare {
namespace {

[[noreturn]] void unsupported() {
  fail(ErrorCode::kUnsupported,
       "this build of tare cannot train trees; build it with -DTARE_WITH_XGBOOST=ON, "
       "or choose another regressor (ridge)");
}

}  // namespace

TreeRows::TreeRows(std::span<const float>, std::size_t, std::span<const float>,
                   std::span<const float>) {
  unsupported();
}
TreeRows::~TreeRows() = default;

Booster::Booster(const BoosterParams&, std::span<const TreeRows* const>) { unsupported(); }
Booster::~Booster() = default;

void Booster::add_tree(const TreeRows&) { unsupported(); }
void Booster::add_mean_tree(const TreeRows&, std::span<const float>, std::span<const float>) {
  unsupported();
}
std::vector<float> Booster::predict(const TreeRows&) { unsupported(); }
TreeNodes Booster::trees(std::size_t) const { unsupported(); }

}  // namespace tare
