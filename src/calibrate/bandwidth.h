// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "calibrate/local_sample.h"
#include "tare/calibrate/bandwidth.h"

namespace tare {

/// choose_bandwidth on rows that are already in order.
BandwidthChoice choose_bandwidth(const LocalSample& sample, const SnqOptions& options, Seed seed,
                                 const Execution& how);

/// The loss of each bandwidth when each of the rows `places` in turn is predicted from all others.
std::vector<double> leave_one_out_losses(const LocalSample& sample, const SnqOptions& options,
                                         std::span<const double> bandwidths,
                                         std::span<const std::size_t> places, const Execution& how);

}  // namespace tare
