// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "support/command.h"
#include "tare/calibrate/description.h"

namespace tare::cli {

/// What 'tare fit' says about a model that has a guarantee.
std::string guarantee_note(const Description& model);
Json guarantee_json(const Description& model);
/// Groups without ranks of their own, and levels that weights made infinite.
void warn_about_guarantee(const GuaranteeDescription& guarantee, const Common& common);

/// What 'tare inspect' says: the form, what central intervals are known to cover on average ("0.9:
/// 0.905"; of cross: where the folds' models agree), what is proven for cross, the shift, and the
/// groups.
std::string guarantee_form(const GuaranteeDescription& guarantee);
std::string guarantee_delivers(const GuaranteeDescription& guarantee);
std::string guarantee_bound(const GuaranteeDescription& guarantee);
/// Of a guarantee by rows held out of a series; empty where rows are in no order.
std::string series_guarantee(const GuaranteeDescription& guarantee);
/// What the guarantee takes for granted about predictions that are given; empty without these.
std::string guarantee_assumes(const GuaranteeDescription& guarantee);
std::string guarantee_shift(const GuaranteeDescription& guarantee);
std::string guarantee_groups(const GuaranteeDescription& guarantee, const std::string& column);

}  // namespace tare::cli
