// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/automatic/family_training.h"

namespace tare::automatic {

/// Two hidden layers of `units` each, trained for `steps` minibatches of 64 rows.
struct NetworkShape {
  std::size_t units = 32;
  std::size_t steps = 1000;
};

/// The options of such a network. It is trained to the end of its steps on all of its rows: with
/// steps this few, rows held out to stop it early cost more than they brought.
nn::HeadNetworkOptions network_options(nn::Heads heads, const NetworkShape& shape);

/// The first `rungs` of the shapes for a number of rows, each more costly than the one before: 50
/// passes through the rows with 32 units, 150 with 32, 150 with 64, 300 with 128, within limits, or
/// `steps` for each, if that is not 0. No shape comes twice. The lower limit is smaller with fewer
/// than 500 rows, unless there is little noise: more steps would only learn it.
std::vector<NetworkShape> network_ladder(std::size_t rows, std::size_t rungs, std::size_t steps = 0,
                                         bool little_noise = false);

struct NetworkRace {
  std::vector<std::size_t> columns;  // the mean by each shape that was trained on all folds
  NetworkShape winner;               // the one with the lowest error on rows left out
};

struct RaceRule {
  std::size_t sure_units = 64;  // shapes of up to so many may be tried in any case
  double rival = 0.0;           // the squared error of the best model that is no network
  bool little_noise = false;    // hardly any of the target is noise, as far as is known
};

/// Trains networks of the first shape, then of the next ones. With many rows it goes on only as
/// long as these lower the error of rows left out: on two folds by more than a standard error of
/// the difference, before the other folds are trained. With few rows it ends where a shape errs a
/// tenth more than the best one before, unless there is little noise. Shapes of more units than the
/// sure ones are tried only if networks are not far behind their rival, and there is little noise
/// or the last one has lowered the error by a fifth.
NetworkRace race_networks(const FamilyTraining& shop, std::span<const NetworkShape> ladder,
                          const RaceRule& rule, std::uint64_t stream);

}  // namespace tare::automatic
