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
    "each quantile tends to the true conditional one as rows grow, if it is Lipschitz in the "
    "kernel's features";

std::span<const Method> table() {
  using enum PointSource;
  static const std::array kMethods = std::to_array<Method>({
      {"nrc", "SNQ on the residuals of a network or of a given prediction, kernel on all features",
       kConsistent, kPaper, "regressor=mlp", kOwnOrGiven, 1, nrc_options(), &fit_nrc, &load_nrc},
      {"nrc_rf", "as nrc, on a random forest", kConsistent, kPaper, "regressor=forest", kOwn, 1,
       nrc_options(), &fit_nrc, &load_nrc},
      {"nrc_rp", "as nrc, kernel on a random projection to a few features", kConsistent, kPaper,
       "regressor=mlp reducer=projection dims=4", kOwnOrGiven, 1, nrc_options(), &fit_nrc,
       &load_nrc},
      {"nrc_cov", "as nrc, kernel on the few features that correlate most with the target",
       kConsistent, kPaper, "regressor=mlp reducer=correlation dims=4", kOwnOrGiven, 1,
       nrc_options(), &fit_nrc, &load_nrc},
      {"nrc_embed", "as nrc, kernel on the network's last hidden layer, which is made small",
       kConsistent, kPaper, "regressor=mlp reducer=embedding dims=4", kOwn, 1, nrc_options(),
       &fit_nrc, &load_nrc},
      {"nrc_rf_rp", "as nrc_rp, on a random forest", kConsistent, kPaper,
       "regressor=forest reducer=projection dims=4", kOwn, 1, nrc_options(), &fit_nrc, &load_nrc},
      {"pure_kernel", "SNQ on the target itself, without a point model", kConsistent, kPaper,
       "regressor=zero", kOwn, 1, nrc_options(), &fit_nrc, &load_nrc},
      {"lstm_nrc", "for series: SNQ on the residuals of an LSTM on windows, kernel on a projection",
       kConsistent, kPaper, "regressor=lstm reducer=projection dims=4 split=time:0.2", kOwn, 5,
       nrc_options(), &fit_nrc, &load_nrc},
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
    fail(ErrorCode::kShapeMismatch,
         "fit: {} rows of features, {} targets, {} weights, {} given predictions", rows,
         input.y.size(), input.weight.size(), input.given.rows());
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
  if (input.given.cols() > 0) {
    if (params.has("regressor") || method.point == PointSource::kOwn) {
      fail(ErrorCode::kInvalidArgument,
           "a prediction is given, so there is nothing for the regressor '{}' to do (use method "
           "nrc without "
           "--regressor, or no prediction)",
           all.text("regressor", ""));
    }
    all.set("regressor", "given");
  } else {
    known.push_back(find_regressor(all.text("regressor", "")).options);
  }
  all.check_known(fmt::format("method '{}'", method.name), known);
  return method.fit(input, all, how);
}

}  // namespace tare
