// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "calibrate/snq/window/local_sample.h"
#include "index/dense/dense_rows.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"

namespace tare {

/// Whether dense_losses can take this: not knn, and nothing out of reach of single precision.
bool dense_losses_serve(const DenseRows& rows, KernelKind kernel,
                        std::span<const double> bandwidths);

/// leave_one_out_losses in one sweep over the rows for all bandwidths, in single precision where
/// that is good enough. `rows` are those of the sample.
///
/// The distances of 32 left-out rows to all rows are computed once; every bandwidth turns them into
/// weights and adds these up over chunks of rows; where a quantile falls into a chunk, that chunk's
/// weights are computed again. Mean losses agree with the sample's to about 1e-5.
Matrix dense_losses(const LocalSample& sample, const DenseRows& rows, const SnqOptions& options,
                    std::span<const double> bandwidths, std::span<const std::size_t> places,
                    const Execution& how);

}  // namespace tare
