// SPDX-License-Identifier: BSD-3-Clause
// The one list of methods. A new method is a file pair and a row.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/fail.h"
#include "base/strings.h"
#include "base/unknown_name.h"
#include "calibrate/nrc.h"
#include "tare/calibrate/methods.h"
#include "tare/model/regressor.h"

namespace tare {
namespace {

constexpr std::string_view kPaper = "Liu, Cai, Li 2023";
constexpr std::string_view kConsistent =
    "each quantile tends to the true conditional one as rows grow, if it is Lipschitz in the kernel's features";

std::span<const Method> table() {
  static const std::array kMethods = std::to_array<Method>({
      {"nrc", "SNQ on the residuals of a point model that is given, or named by --regressor", kConsistent, kPaper,
       "regressor=given", nrc_options(), &fit_nrc, &load_nrc},
      {"nrc_rf", "SNQ on the residuals of a random forest, kernel on all features", kConsistent, kPaper,
       "regressor=forest", nrc_options(), &fit_nrc, &load_nrc},
      {"nrc_rf_rp", "as nrc_rf, kernel on a random projection to a few features", kConsistent, kPaper,
       "regressor=forest reducer=projection dims=4", nrc_options(), &fit_nrc, &load_nrc},
      {"pure_kernel", "SNQ on the target itself, without a point model", kConsistent, kPaper,
       "regressor=zero", nrc_options(), &fit_nrc, &load_nrc},
  });
  return kMethods;
}

}  // namespace

std::span<const Method> methods() { return table(); }

const Method& find_method(std::string_view name) {
  const std::string sought = canonical_name(name);
  std::vector<std::string> names;
  for (const Method& method : methods()) {
    if (method.name == sought) return method;
    names.emplace_back(method.name);
  }
  fail_unknown_name(ErrorCode::kNotFound, "method", name, names);
}

std::unique_ptr<QuantileModel> fit_method(const Method& method, const FitInput& input,
                                          const Params& params, const Execution& how) {
  const std::size_t rows = input.x.rows();
  if (input.y.size() != rows || (!input.weight.empty() && input.weight.size() != rows) ||
      (input.given.cols() > 0 && input.given.rows() != rows) ||
      (!input.calibrate_rows.empty() && input.calibrate_rows.size() != rows)) {
    fail(ErrorCode::kShapeMismatch, "fit: {} rows of features, {} targets, {} weights, {} given predictions",
         rows, input.y.size(), input.weight.size(), input.given.rows());
  }
  for (std::size_t i = 0; i < rows; ++i) {
    bool finite = std::isfinite(input.y[i]);
    for (const double value : input.x.row(i)) finite = finite && std::isfinite(value);
    if (input.given.cols() > 0) {
      for (const double value : input.given.row(i)) finite = finite && std::isfinite(value);
    }
    if (!finite) fail(ErrorCode::kBadData, "fit: row {} has a value that is not finite", i);
    if (!input.weight.empty() && !(input.weight[i] >= 0.0 && std::isfinite(input.weight[i]))) {
      fail(ErrorCode::kBadData, "fit: row {} has the weight {}", i, input.weight[i]);
    }
  }

  Params all = Params::parse(method.defaults);
  all.merge(params);
  std::vector<std::span<const ParamInfo>> known = {method.options};
  const std::string regressor = canonical_name(all.text("regressor", "given"));
  if (input.given.cols() == 0) {
    if (regressor == "given") {
      fail(ErrorCode::kInvalidArgument,
           "method '{}' needs a point model: give --prediction COL, --predictor 'CMD' or --regressor NAME",
           method.name);
    }
    known.push_back(find_regressor(regressor).options);
  } else if (regressor != "given") {
    fail(ErrorCode::kInvalidArgument,
         "a prediction is given, so there is nothing for the regressor '{}' to do (use method nrc, or no prediction)",
         regressor);
  }
  all.check_known(fmt::format("method '{}'", method.name), known);
  return method.fit(input, all, how);
}

}  // namespace tare
