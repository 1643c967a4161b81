// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "io/tensor_store.h"
#include "support/command.h"
#include "tare/calibrate/description.h"

namespace tare::cli {

/// The note of 'tare fit' about the guarantee of a model.
std::string guarantee_note(const Description& model);
Json guarantee_json(const Description& model);
/// Warns about groups without their own ranks, and about levels that are infinite because of
/// weights.
void warn_about_guarantee(const GuaranteeDescription& guarantee, const Common& common);

/// Texts for 'tare inspect': the form, the known average coverage of central intervals ("0.9:
/// 0.905"; for cross if the models of the folds agree), the proven coverage of cross, the shift,
/// and the groups.
std::string guarantee_form(const GuaranteeDescription& guarantee);
std::string guarantee_delivers(const GuaranteeDescription& guarantee);
std::string guarantee_bound(const GuaranteeDescription& guarantee);
/// For a guarantee by held-out rows of a series; empty if the rows are not a series.
std::string series_guarantee(const GuaranteeDescription& guarantee);
/// What the guarantee assumes about given predictions; empty without them.
std::string guarantee_assumes(const GuaranteeDescription& guarantee);
/// The rows among which a row is ranked, for local; empty for other forms.
std::string guarantee_near(const Description& model);
std::string guarantee_shift(const GuaranteeDescription& guarantee);
std::string guarantee_groups(const GuaranteeDescription& guarantee, const std::string& column);

}  // namespace tare::cli
