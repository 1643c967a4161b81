// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "calibrate/guarantee/guarantee_split.h"
#include "calibrate/guarantee/rowwise/rowwise_guarantee.h"

namespace tare {

/// Puts a guarantee of the rule's form, local or conditional, around a model that was fitted on the
/// training rows. Throws kInvalidArgument for rows that the form cannot rank.
std::unique_ptr<RowwiseGuarantee> fit_rowwise(std::unique_ptr<const QuantileModel> inner,
                                              const FitInput& training, const FitInput& held_out,
                                              const GuaranteeRule& rule, const Execution& how);

/// Throws kInvalidArgument, before the method is fitted, for rows in time order, of unequal weight,
/// or in groups that the form does not know.
void check_rowwise(const FitInput& input, const GuaranteeRule& rule, RowOrder order);

}  // namespace tare
