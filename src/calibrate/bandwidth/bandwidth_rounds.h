// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "calibrate/bandwidth/bandwidth.h"

namespace tare {

/// The search on rows left out in rounds, each several times as large as all before, on which only
/// those bandwidths run that are not clearly worse than the best. Ends when nothing that matters
/// can be gained, or at `most` rows.
BandwidthChoice search_in_rounds(const LocalSample& sample, const RowNotes& notes,
                                 const SnqOptions& options, std::size_t most, Seed seed,
                                 const Execution& how);

}  // namespace tare
