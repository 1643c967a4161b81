// SPDX-License-Identifier: BSD-3-Clause
#include "model/linear/zero.h"

#include <algorithm>

#include "io/tensor_store.h"
#include "model/input/fit_input.h"

namespace tare {
namespace {

class Zero final : public Regressor {
 public:
  explicit Zero(std::size_t features) : features_(features) {}

  std::size_t features() const override { return features_; }

  void predict(MatrixView x, std::span<double> out, const Execution&) const override {
    check_query("zero", features_, x, out);

    std::ranges::fill(out, 0.0);
  }

  void save(const TensorWriter& out) const override { out.value("features", features_); }

 private:
  std::size_t features_;
};

}  // namespace

std::unique_ptr<Regressor> fit_zero(const RegressionData& data, const Params& params, Seed,
                                    const Execution&) {
  check_fit_input("zero", data, params, kZeroOptions);
  return std::make_unique<Zero>(data.x.cols());
}

std::unique_ptr<Regressor> load_zero(const TensorReader& in) {
  return std::make_unique<Zero>(in.count("features", kMaxFeatures));
}

}  // namespace tare
