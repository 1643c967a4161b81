// SPDX-License-Identifier: BSD-3-Clause
// The one list of methods. A new method is a file pair and a row.
#include <array>
#include <string>
#include <vector>

#include "base/strings.h"
#include "base/unknown_name.h"
#include "calibrate/automatic/automatic.h"
#include "calibrate/baseline/gaussian/deep_ensemble.h"
#include "calibrate/baseline/gaussian/dgp.h"
#include "calibrate/baseline/gaussian/distribution_calibration.h"
#include "calibrate/baseline/gaussian/hnn.h"
#include "calibrate/baseline/gaussian/isr.h"
#include "calibrate/baseline/gaussian/lstm_hnn.h"
#include "calibrate/baseline/gaussian/mc_dropout.h"
#include "calibrate/baseline/gaussian/mmd.h"
#include "calibrate/baseline/gaussian/ngboost.h"
#include "calibrate/baseline/gaussian/paic.h"
#include "calibrate/baseline/kernel/kernel_density.h"
#include "calibrate/baseline/kernel/kqr.h"
#include "calibrate/baseline/quantile/ccl.h"
#include "calibrate/baseline/quantile/cqr.h"
#include "calibrate/baseline/quantile/cqr_boost.h"
#include "calibrate/baseline/quantile/idr.h"
#include "calibrate/baseline/quantile/maqr.h"
#include "calibrate/baseline/quantile/oqr.h"
#include "calibrate/baseline/quantile/qrf.h"
#include "calibrate/nrc/nrc.h"
#include "calibrate/nrc/nrc_boost.h"
#include "tare/calibrate/methods.h"

namespace tare {
namespace {

using enum PointSource;

/// A member of the NRC family. The members differ only in their defaults.
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
              "nothing for a finite sample; consistency by Theorem 1 for kernel=naive "
              "bandwidth=rate, if rows are independent, the quantile is bounded and Lipschitz in "
              "the kernel's features, and these features and the residual have densities",
          .citation = "Liu, Cai, Li 2023",
          .defaults = row.defaults,
          .point = row.point,
          .window = row.window,
          .options = nrc_options(),
          .fit = &fit_nrc,
          .load = &load_nrc,
          .many_rows = 0,
          .on_columns = true,
          .slow = row.window > 1};
}

std::span<const Method> table() {
  static const std::array kMethods = std::to_array<Method>({
      {.name = "auto",
       .paper = "",
       .summary = "the default: SNQ on several cross-fitted centers and scales, and the average of "
                  "them with the smallest loss on left-out rows",
       .guarantee = "by default, with 30 exchangeable rows or more: a central interval covers on "
                    "average at least the share that fit prints as proven, which is less than the "
                    "one asked for (88 % for 90 % with 10,000 rows, 80 % with few); with "
                    "guarantee=split the share asked for, as far as the number of rows permits; no "
                    "theorem covers the average of its members",
       .citation = "Liu, Cai, Li 2023, Theorem 3; Caruana et al. 2004 for the greedy average",
       .defaults = "guarantee=auto",
       .point = kOwnOrGiven,
       .window = 1,
       .options = auto_options(),
       .fit = &fit_auto,
       .load = &load_auto,
       .on_columns = true,
       .half_params = "budget=half folds=auto rounds=auto steps=auto",
       .proof_params = "budget=proof rounds=auto",
       .loose_from = 30},
      nrc_method(
          {"nrc", "NRC",
           "SNQ on the residuals of a network or a given prediction; the kernel uses all features",
           "regressor=mlp", kOwnOrGiven}),
      nrc_method({"nrc_rf", "NRC-RF", "as nrc, with a random forest", "regressor=forest"}),
      nrc_method({"nrc_rp", "NRC-RP",
                  "as nrc; the kernel uses a random projection to a few features",
                  "regressor=mlp reducer=projection dims=4", kOwnOrGiven}),
      nrc_method({"nrc_cov", "NRC-Cov",
                  "as nrc; the kernel uses the few features that correlate most with the target",
                  "regressor=mlp reducer=correlation dims=4", kOwnOrGiven}),
      nrc_method({"nrc_embed", "NRC-Embed",
                  "as nrc; the kernel uses the last hidden layer of the network, which is small",
                  "regressor=mlp reducer=embedding dims=4"}),
      nrc_method({"nrc_rf_rp", "NRC-RF-RP", "as nrc_rp, with a random forest",
                  "regressor=forest reducer=projection dims=4"}),
      nrc_method(
          {"pure_kernel", "", "SNQ on the target itself, without a point model", "regressor=zero"}),
      nrc_method(
          {"lstm_nrc", "LSTM-NRC",
           "for series: SNQ on the residuals of an LSTM on windows; the kernel uses a projection",
           "regressor=lstm reducer=projection dims=4 split=cross", kOwn, 5}),
      {.name = "nrc_boost",
       .paper = "",
       .summary = "as nrc, after boosted trees have standardised the residuals by their center and "
                  "size; the kernel has one feature",
       .guarantee = "nothing for a finite sample; as nrc only if the distribution of the residual "
                    "depends only on the center and size that the trees estimate (Theorem 3)",
       .citation = "Liu, Cai, Li 2023; Friedman 2001 for the trees",
       .defaults = "regressor=boosting split=cross",
       .point = kOwnOrGiven,
       .window = 1,
       .options = nrc_boost_options(),
       .fit = &fit_nrc_boost,
       .load = &load_nrc_boost,
       .on_columns = true},
      {.name = "hnn",
       .paper = "HNN",
       .summary = "a network with a mean and an sd head, by Gaussian likelihood",
       .guarantee = "none; correct in the limit only if the target is normal given the features "
                    "and training finds its mean and sd",
       .citation = "Kendall, Gal 2017",
       .defaults = "hidden=20,20",
       .point = kOwn,
       .window = 1,
       .options = hnn_options(),
       .fit = &fit_hnn,
       .load = &load_hnn},
      {.name = "mc_dropout",
       .paper = "MCDrop",
       .summary = "as hnn, with dropout in training and in 100 passes at prediction",
       .guarantee = "none",
       .citation = "Gal, Ghahramani 2016",
       .defaults = "hidden=20,20 passes=100",
       .point = kOwn,
       .window = 1,
       .options = mc_dropout_options(),
       .fit = &fit_mc_dropout,
       .load = &load_mc_dropout},
      {.name = "deep_ensemble",
       .paper = "DeepEnsemble",
       .summary = "5 networks as in hnn; their disagreement is part of the variance",
       .guarantee = "none; correct in the limit only if the target is normal given the features "
                    "and training finds its mean and sd",
       .citation = "Lakshminarayanan, Pritzel, Blundell 2017",
       .defaults = "hidden=20,20 members=5",
       .point = kOwn,
       .window = 1,
       .options = deep_ensemble_options(),
       .fit = &fit_deep_ensemble,
       .load = &load_deep_ensemble},
      {.name = "mmd",
       .paper = "MMD",
       .summary = "as hnn, then trained further so that draws from its predicted distributions "
                  "resemble the set of all targets",
       .guarantee = "none: its second loss cannot tell which distribution belongs to which row",
       .citation = "Cui, Hu, Zhu 2020",
       .defaults = "hidden=20,20 mmd_batch=128",
       .point = kOwn,
       .window = 1,
       .options = mmd_options(),
       .fit = &fit_mmd,
       .load = &load_mmd},
      {.name = "isr",
       .paper = "ISR",
       .summary = "as hnn, with levels corrected by their coverage on held-out rows",
       .guarantee = "each level holds on average over exchangeable rows, within 1/(n+1) for n "
                    "recalibration rows without ties; nothing for a single x",
       .citation = "Kuleshov, Fenner, Ermon 2018",
       .defaults = "hidden=20,20",
       .point = kOwn,
       .window = 1,
       .options = isr_options(),
       .fit = &fit_isr,
       .load = &load_isr},
      {.name = "lstm_hnn",
       .paper = "LSTM-HNN",
       .summary = "for series: mean and sd heads on an LSTM that reads a window of steps",
       .guarantee = "none; correct in the limit only if the target is normal given the window and "
                    "training finds its mean and sd",
       .citation = "Kendall, Gal 2017",
       .defaults = "units=40,40",
       .point = kOwn,
       .window = 5,
       .options = lstm_hnn_options(),
       .fit = &fit_lstm_hnn,
       .load = &load_lstm_hnn,
       .slow = true},
      {.name = "cqr_boost",
       .paper = "",
       .summary = "conformalized quantile regression on boosted trees",
       .guarantee = "a central interval covers at least its share of exchangeable rows on average, "
                    "or n/(n+1) if that is less, for n calibration rows; nothing for a single x",
       .citation = "Romano, Patterson, Candes 2019; Friedman 2001",
       .defaults = "",
       .point = kOwn,
       .window = 1,
       .options = cqr_boost_options(),
       .fit = &fit_cqr_boost,
       .load = &load_cqr_boost},
      {.name = "cqr",
       .paper = "CQR",
       .summary = "a network trained with pinball loss for all levels, corrected by a conformal "
                  "step on held-out rows",
       .guarantee = "a central interval covers at least its share of exchangeable rows on average, "
                    "or n/(n+1) if that is less, for n calibration rows; nothing for a single x",
       .citation = "Romano, Patterson, Candes 2019",
       .defaults = "",
       .point = kOwn,
       .window = 1,
       .options = cqr_options(),
       .fit = &fit_cqr,
       .load = &load_cqr},
      {.name = "oqr",
       .paper = "OQR",
       .summary = "as cqr, with a network trained so that coverage does not depend on the length "
                  "of the interval",
       .guarantee = "a central interval covers at least its share of exchangeable rows on average, "
                    "or n/(n+1) if that is less, for n calibration rows; nothing for a single x",
       .citation = "Feldman, Bates, Romano 2021",
       .defaults = "batch=128",
       .point = kOwn,
       .window = 1,
       .options = oqr_options(),
       .fit = &fit_oqr,
       .load = &load_oqr},
      {.name = "maqr",
       .paper = "MAQR",
       .summary = "a network, and a second network for the local quantiles of its residuals",
       .guarantee = "none: it uses residuals of its training rows, which are too small",
       .citation = "Chung, Neiswanger, Char, Schneider 2021",
       .defaults = "",
       .point = kOwn,
       .window = 1,
       .options = maqr_options(),
       .fit = &fit_maqr,
       .load = &load_maqr},
      {.name = "ccl",
       .paper = "CCL",
       .summary = "a network trained to be calibrated on average and sharp",
       .guarantee =
           "none: a model can be calibrated on average and sharp and still be wrong at every x",
       .citation = "Chung, Neiswanger, Char, Schneider 2021",
       .defaults = "",
       .point = kOwn,
       .window = 1,
       .options = ccl_options(),
       .fit = &fit_ccl,
       .load = &load_ccl},
      {.name = "qrf",
       .paper = "",
       .summary = "quantile regression forest: quantiles of the training targets, weighted by how "
                  "often their rows share a leaf with the query",
       .guarantee = "nothing for a finite sample; consistent for a continuous distribution that is "
                    "Lipschitz in the features, if the leaves grow in rows and shrink in size",
       .citation = "Meinshausen 2006",
       .defaults = "",
       .point = kOwn,
       .window = 1,
       .options = qrf_options(),
       .fit = &fit_qrf,
       .load = &load_qrf},
      {.name = "ngboost",
       .paper = "",
       .summary = "natural gradient boosting: trees for the mean and the sd of a normal or "
                  "lognormal distribution, by the log score",
       .guarantee = "none; correct in the limit only if the target has the chosen distribution "
                    "given the features and training finds its parameters",
       .citation = "Duan, Avati, Ding, Thai, Basu, Ng, Schuler 2020",
       .defaults = "",
       .point = kOwn,
       .window = 1,
       .options = ngboost_options(),
       .fit = &fit_ngboost,
       .load = &load_ngboost,
       .check = &check_ngboost},
      {.name = "idr",
       .paper = "",
       .summary =
           "isotonic distributional regression (EasyUQ): of all distributions that grow with a "
           "prediction, those with the lowest CRPS on the calibration rows; exact up to the "
           "option knots",
       .guarantee = "nothing for a finite sample; consistent given the prediction if larger "
                    "predictions mean stochastically larger targets",
       .citation = "Henzi, Ziegel, Gneiting 2021; Walz, Henzi, Ziegel, Gneiting 2024",
       .defaults = "regressor=boosting split=cross",
       .point = kOwnOrGiven,
       .window = 1,
       .options = idr_options(),
       .fit = &fit_idr,
       .load = &load_idr},
      {.name = "dgp",
       .paper = "DGP",
       .summary = "deep Gaussian process of two layers, variational, with noise between the layers",
       .guarantee = "none",
       .citation = "Damianou & Lawrence 2013; Salimbeni & Deisenroth 2017",
       .defaults = "",
       .point = kOwn,
       .window = 1,
       .options = dgp_options(),
       .fit = &fit_dgp,
       .load = &load_dgp,
       .many_rows = 20'000,
       .slow = true},
      {.name = "kernel_density",
       .paper = "",
       .summary = "conformal prediction sets by kernel density in each cell of a partition; levels "
                  "tau and 1 - tau are the ends of a set",
       .guarantee = "a central interval covers at least its share of exchangeable rows within each "
                    "cell, or n/(n+1) if that is less, for n ranked rows in the cell; nothing for "
                    "a single x, or for a level without its mirror image",
       .citation = "Lei, Wasserman 2014",
       .defaults = "",
       .point = kOwn,
       .window = 1,
       .options = kernel_density_options(),
       .fit = &fit_kernel_density,
       .load = &load_kernel_density},
      {.name = "paic",
       .paper = "",
       .summary =
           "a network on (x, r) that predicts a normal distribution in which the target is at "
           "level r, for a random r; the answer is the mean distribution over r",
       .guarantee = "none for the answer; the levels of the randomised forecast in any group of "
                    "rows are as close to uniform as its loss, over the group's share of the rows",
       .citation = "Zhao, Ma, Ermon 2020",
       .defaults = "hidden=20,20",
       .point = kOwn,
       .window = 1,
       .options = paic_options(),
       .fit = &fit_paic,
       .load = &load_paic},
      {.name = "kqr",
       .paper = "",
       .summary = "kernel quantile regression with a Gaussian kernel: pinball loss and a penalty, "
                  "solved in its dual at 15 levels",
       .guarantee =
           "none for new rows; before the levels are put in order, a share of at most tau "
           "of the rows it learned from is below its quantile, and of at least tau not above it",
       .citation = "Takeuchi, Le, Sears, Smola 2006",
       .defaults = "",
       .point = kOwn,
       .window = 1,
       .options = kqr_options(),
       .fit = &fit_kqr,
       .load = &load_kqr},
      {.name = "distribution_calibration",
       .paper = "",
       .summary = "as hnn, with each predicted distribution corrected by a map that depends on its "
                  "mean and sd, learned on held-out rows (GP-Beta)",
       .guarantee =
           "none; calibrated in the limit among rows with the same predicted distribution, "
           "only if a beta map of the levels, smooth in mean and sd, can correct it",
       .citation = "Song, Diethe, Kull, Flach 2019",
       .defaults = "hidden=20,20",
       .point = kOwn,
       .window = 1,
       .options = distribution_calibration_options(),
       .fit = &fit_distribution_calibration,
       .load = &load_distribution_calibration},
  });
  return kMethods;
}

}  // namespace

std::span<const Method> methods() { return table(); }

Params effective_params(const Method& method, const Params& given) {
  Params all = Params::parse(method.defaults);
  all.merge(given);
  return all;
}

const Method& find_method(std::string_view name) {
  const std::string sought = canonical_name(name);
  std::vector<std::string> names;
  for (const Method& method : methods()) {
    if (method.name == sought || (!method.paper.empty() && canonical_name(method.paper) == sought))
      return method;
    names.emplace_back(method.name);
  }
  fail_unknown_name(ErrorCode::kNotFound, "method", name, names, "method");
}

}  // namespace tare
