// SPDX-License-Identifier: BSD-3-Clause
// The one list of methods. A new method is a file pair and a row.
#include <array>
#include <string>
#include <vector>

#include "base/strings.h"
#include "base/unknown_name.h"
#include "calibrate/baseline/dgp.h"
#include "calibrate/nrc.h"
#include "tare/calibrate/methods.h"

namespace tare {
namespace {

using enum PointSource;

/// A member of the NRC family: what differs is where it starts from.
struct NrcRow {
  std::string_view name, paper, summary, defaults;
  PointSource point = kOwn;
  std::size_t window = 1;
};

Method nrc_method(const NrcRow& row) {
  return {.name = row.name,
          .paper = row.paper,
          .summary = row.summary,
          .guarantee =
              "each quantile tends to the true conditional one as rows grow, if it is Lipschitz in "
              "the kernel's features",
          .citation = "Liu, Cai, Li 2023",
          .defaults = row.defaults,
          .point = row.point,
          .window = row.window,
          .options = nrc_options(),
          .fit = &fit_nrc,
          .load = &load_nrc,
          .many_rows = 0};
}

std::span<const Method> table() {
  static const std::array kMethods = std::to_array<Method>({
      nrc_method({"nrc", "NRC",
                  "SNQ on the residuals of a network or of a given prediction, kernel on all "
                  "features",
                  "regressor=mlp", kOwnOrGiven}),
      nrc_method({"nrc_rf", "NRC-RF", "as nrc, on a random forest", "regressor=forest"}),
      nrc_method({"nrc_rp", "NRC-RP", "as nrc, kernel on a random projection to a few features",
                  "regressor=mlp reducer=projection dims=4", kOwnOrGiven}),
      nrc_method({"nrc_cov", "NRC-Cov",
                  "as nrc, kernel on the few features that correlate most with the target",
                  "regressor=mlp reducer=correlation dims=4", kOwnOrGiven}),
      nrc_method({"nrc_embed", "NRC-Embed",
                  "as nrc, kernel on the network's last hidden layer, which is made small",
                  "regressor=mlp reducer=embedding dims=4"}),
      nrc_method({"nrc_rf_rp", "NRC-RF-RP", "as nrc_rp, on a random forest",
                  "regressor=forest reducer=projection dims=4"}),
      nrc_method(
          {"pure_kernel", "", "SNQ on the target itself, without a point model", "regressor=zero"}),
      nrc_method({"lstm_nrc", "LSTM-NRC",
                  "for series: SNQ on the residuals of an LSTM on windows, kernel on a projection",
                  "regressor=lstm reducer=projection dims=4 split=time:0.2", kOwn, 5}),
      {.name = "dgp",
       .paper = "DGP",
       .summary = "deep Gaussian process of two layers, variational, with noise between the layers",
       .guarantee = "none: the law is as good as the model; natural for up to a few thousand rows",
       .citation = "Damianou & Lawrence 2013; Salimbeni & Deisenroth 2017",
       .defaults = "",
       .point = kOwn,
       .window = 1,
       .options = dgp_options(),
       .fit = &fit_dgp,
       .load = &load_dgp,
       .many_rows = 20'000},
  });
  return kMethods;
}

}  // namespace

std::span<const Method> methods() { return table(); }

const Method& find_method(std::string_view name) {
  const std::string sought = canonical_name(name);
  std::vector<std::string> names;
  for (const Method& method : methods()) {
    if (method.name == sought || (!method.paper.empty() && canonical_name(method.paper) == sought))
      return method;
    names.emplace_back(method.name);
  }
  fail_unknown_name(ErrorCode::kNotFound, "method", name, names);
}

}  // namespace tare
