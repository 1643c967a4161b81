// SPDX-License-Identifier: BSD-3-Clause
#include "commands/reproduce_theory.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "evaluate/experiment/study/theory.h"
#include "io/files/atomic_file.h"
#include "report/pages/theory_report.h"
#include "support/bar.h"
#include "support/terminal.h"
#include "support/text_table.h"
#include "tare/base/version.h"

namespace tare::cli {
namespace {

nlohmann::ordered_json to_json(const Theory& theory) {
  nlohmann::ordered_json json;
  for (const RateCurve& curve : theory.rates) {
    json["rates"].push_back({{"theorem", curve.theorem},
                             {"curve", curve.name},
                             {"rows", curve.rows},
                             {"quantile_mse", curve.error},
                             {"slope", curve.fitted.slope},
                             {"slope_standard_error", curve.fitted.standard_error},
                             {"theorem_slope", curve.expected}});
  }
  for (const ColumnCurve& curve : theory.columns) {
    json["columns"].push_back(
        {{"curve", curve.name}, {"rows", curve.rows}, {"pinball", curve.loss}});
  }
  return json;
}

}  // namespace

void write_result(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path.string(), Overwrite::kAllow);
  file.write(text);
  file.commit();
}

std::string run_reproduce_theory(std::size_t samples, const std::filesystem::path& folder,
                                 const Common& common) {
  TheoryOptions options;
  if (samples > 0) options.samples = samples;
  Theory theory;
  {
    Bar bar(common);
    theory = run_theory(options, bar.execution());
  }
  const std::string provenance =
      fmt::format("tare {}, `tare reproduce theory`, {} samples behind each figure, seed {}",
                  kVersion, options.samples, options.seed.value);
  write_result(folder / "theory.csv", theory_csv(theory));
  write_result(folder / "theory.md", theory_markdown(theory, provenance));
  write_result(folder / "theory.svg", theory_figure(theory));
  std::string page = theory_html(theory, provenance);
  write_result(folder / "theory.html", page);
  if (common.json) {
    fmt::print("{}\n", to_json(theory).dump(2));
  } else {
    say("\nquantile MSE against rows\n{}", text_table(rate_cells(theory)));
    say("\nslopes of its logarithm\n{}", text_table(slope_cells(theory)));
    say("\nTheorem 5: pinball loss\n{}", text_table(column_cells(theory)));
  }
  note(common, fmt::format("results: {} (and .md, .svg, .html)", (folder / "theory.csv").string()));
  return page;
}

}  // namespace tare::cli
