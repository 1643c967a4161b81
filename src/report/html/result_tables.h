// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evaluate/experiment/summary.h"

namespace tare {

/// How to read the tables.
inline constexpr std::string_view kResultsLegend =
    "Mean ± standard deviation over repeats; in brackets the paper's mean ± standard deviation, "
    "where it prints one. 'perfect' is the mean score of a perfect forecaster on as many test "
    "rows. 'seconds' is the mean time of one fit and its test.";

/// The cases' tables, and the one over all of them.
std::vector<const SummaryTable*> all_tables(const Summary& summary);

/// A table of results as rows of cells, the first row being the heading: method, then for each
/// metric "mean ± sd (the paper's mean ± sd)", then seconds. The last row has the floors. Print
/// kResultsLegend with it: it explains the brackets.
std::vector<std::vector<std::string>> result_cells(const SummaryTable& table);

/// All tables of a summary as Markdown. `provenance` is a line below the title: the command, the
/// version.
std::string results_markdown(const Summary& summary, const std::string& provenance);

/// Rows of cells as Markdown, the first being the heading.
std::string markdown_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace tare
