// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "evaluate/experiment/study/theory.h"

namespace tare {

/// One row for each curve of Theorems 1 and 3: the fitted slope, its standard error, the theorem's.
std::vector<std::vector<std::string>> slope_cells(const Theory& theory);
/// One row for each number of rows, one column for each curve of Theorems 1 and 3.
std::vector<std::vector<std::string>> rate_cells(const Theory& theory);
/// One row for each curve of Theorem 5, one column for each number of features.
std::vector<std::vector<std::string>> column_cells(const Theory& theory);

/// All figures in full precision, one row for each: theorem, curve, rows, features, quantity,
/// value. A cell that does not apply is empty.
std::string theory_csv(const Theory& theory);

/// The three theorems as three charts in one SVG element.
std::string theory_figure(const Theory& theory);

/// Tables and words as Markdown, which shows theory.svg beside it, and as one HTML page with the
/// pictures inside. `provenance` is a line below the title.
std::string theory_markdown(const Theory& theory, const std::string& provenance);
std::string theory_html(const Theory& theory, const std::string& provenance);

}  // namespace tare
