// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "evaluate/experiment/summary.h"

namespace tare {

/// A table of results as rows of cells, the first row being the heading: method, then for each
/// metric "ours +- sd" with the paper's figure in brackets, then seconds. The last row has the
/// floors.
std::vector<std::vector<std::string>> result_cells(const SummaryTable& table);

/// All tables of a summary as Markdown, and as one HTML page that needs nothing else. `provenance`
/// is a line below the title: the command, the version. `figure` is an SVG element that the page
/// shows above the tables, or empty.
std::string results_markdown(const Summary& summary, const std::string& provenance);
std::string results_html(const Summary& summary, const std::string& provenance,
                         const std::string& figure = {});

/// Rows of cells as Markdown, the first being the heading.
std::string markdown_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace tare
