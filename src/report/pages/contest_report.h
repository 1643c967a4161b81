// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "evaluate/experiment/ranking.h"
#include "evaluate/experiment/summary.h"
#include "report/html/page.h"

namespace tare {

/// A case's methods from best to worst by a metric for which smaller is better.
struct CaseRanking {
  std::string case_name;
  std::string metric;
  std::vector<RankedMethod> methods;
  std::size_t comparisons = 0;  // of pairs of methods, for which p-values are corrected
};

/// The number of comparisons, and the methods that differ from the best after the correction for
/// them. Empty if nothing was compared.
std::string comparisons_text(const std::vector<RankedMethod>& methods, std::size_t comparisons);

/// The ranking with 95 % intervals of the differences from the best.
Card ranking_card(const CaseRanking& ranking);

/// Mean and deviation of one metric for each method; beside it the paper's figures where there are
/// any. A metric that the table does not have gives an empty card.
Card metric_card(const SummaryTable& table, const std::string& metric);

/// The page of 'tare compare'.
struct ContestReport {
  std::string title;
  std::string provenance;
  SummaryTable table;
  CaseRanking ranking;
  std::size_t repeats = 0;
  double test_share = 0.0;
  std::vector<std::string> failed;  // methods that could not be fitted, and why
};
std::string contest_html(const ContestReport& report);

/// The page of 'tare reproduce': for each case its table beside the paper's figures, and where
/// there is one its ranking. `figure` is an SVG element at the top of the page, or empty.
std::string results_html(const Summary& summary, const std::string& provenance,
                         const std::string& figure = {},
                         const std::vector<CaseRanking>& rankings = {});

}  // namespace tare
