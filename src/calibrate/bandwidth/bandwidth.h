// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "calibrate/snq/window/local_sample.h"
#include "io/tensor_store.h"
#include "tare/calibrate/bandwidth.h"
#include "tare/calibrate/description.h"

namespace tare {

/// Properties of the places of a sample in addition to features and residuals.
struct RowNotes {
  std::span<const std::size_t> block = {};  // as in choose_bandwidth; empty: rows in no order
  std::span<const double> unit = {};  // change of y per unit of the residual; empty: all equal
  bool marginal = false;  // try a window that holds all rows alike, wherever the path ends
  std::size_t all_left_out = 5'000;   // up to here every row is left out, above there is a race
  std::size_t most_left_out = 4'000;  // in a race
};

/// choose_bandwidth on rows that are already in order. A row's loss counts times its unit, so that
/// it is the loss of the answer in units of y. `block` is empty, or has the block 0, 1, ...
/// of each place, for rows in time order: then a row is predicted from earlier blocks alone, and of
/// the bandwidths that the blocks cannot tell from the best (the mean difference is within one
/// standard error over blocks) the widest is taken. Successive rows have similar errors, so
/// predicting a row from its neighbours in time would favour a bandwidth that finds only those.
/// Predicting late blocks from early ones measures how the future differs from the past. Needs more
/// than three blocks.
BandwidthChoice choose_bandwidth(const LocalSample& sample, const RowNotes& notes,
                                 const SnqOptions& options, Seed seed, const Execution& how);

/// The loss of each bandwidth (column) when each of the rows `places` in turn is predicted from all
/// others, or with blocks from all earlier blocks. Without
/// blocks by the first engine that can.
Matrix leave_one_out_losses(const LocalSample& sample, std::span<const std::size_t> block,
                            const SnqOptions& options, std::span<const double> bandwidths,
                            std::span<const std::size_t> places, const Execution& how);

/// SNQ with its bandwidth, and the name of the point model whose residuals it has.
KernelDescription describe_kernel(const Snq& snq, const BandwidthChoice& choice,
                                  std::string point_model);

/// How a bandwidth was chosen, for `tare inspect`; the bandwidth itself is in SNQ's part.
void save_choice(const BandwidthChoice& choice, const TensorWriter& out);
BandwidthChoice load_choice(const TensorReader& in, double bandwidth);

}  // namespace tare
