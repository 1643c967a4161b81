// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "calibrate/guarantee/guarantee.h"
#include "data/group_column.h"
#include "support/command.h"

namespace tare::cli {

/// What 'tare fit' says about a guarantee; `rows` are all rows of the fit.
std::string guarantee_note(const GuaranteedModel& model, std::size_t rows);
Json guarantee_json(const GuaranteedModel& model, std::size_t rows);
/// Groups without ranks of their own, and levels that weights made infinite.
void warn_about_guarantee(const GuaranteedModel& model, const GroupColumn& groups,
                          const Common& common);

/// What 'tare inspect' says: the form, what central intervals are known to cover on average ("0.9:
/// 0.905"; of cross: where the folds' models agree), what is proven for cross, the shift, and the
/// groups.
std::string guarantee_form(const GuaranteedModel& model);
std::string guarantee_delivers(const GuaranteedModel& model);
std::string guarantee_bound(const GuaranteedModel& model);
/// What the guarantee takes for granted about predictions that are given; empty without these.
std::string guarantee_assumes(const GuaranteedModel& model);
std::string guarantee_shift(const GuaranteedModel& model);
std::string guarantee_groups(const GuaranteedModel& model, const GroupColumn& groups);

}  // namespace tare::cli
