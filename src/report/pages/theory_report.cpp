// SPDX-License-Identifier: BSD-3-Clause
#include "report/pages/theory_report.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "report/html/page.h"
#include "report/html/result_tables.h"
#include "report/svg/svg.h"

namespace tare {
namespace {

constexpr std::array kInks = {Ink::kBlue, Ink::kOrange, Ink::kGreen, Ink::kGrey};
constexpr std::string_view kTitle = "The theorems in numbers";
constexpr std::string_view kRates =
    "Mean squared error of SNQ's quantiles (levels 0.1 to 0.9) against the number of calibration "
    "rows n, with the window h = c n^(-1/(d+2)) of Theorem 1, on residuals of the true mean, at "
    "queries away from the boundary of the cube. The standard error of a slope is that of the "
    "least squares line; dashed: the theorem's slope. Theorem 3: only one of four features "
    "matters, and a kernel on that feature alone has the rate of one dimension.";
constexpr std::string_view kColumns =
    "Theorem 5: pinball loss against the number of features in the kernel, of four that all "
    "matter. The true conditional quantiles gain from each feature; estimated quantiles gain less, "
    "in particular with few rows.";

Ink ink_of(std::size_t k) { return kInks[k % kInks.size()]; }

/// The theorem's slope through the middle of a curve.
std::vector<double> reference(const RateCurve& curve) {
  double x = 0.0;
  double y = 0.0;
  for (std::size_t i = 0; i < curve.rows.size(); ++i) {
    x += std::log(curve.rows[i]) / static_cast<double>(curve.rows.size());
    y += std::log(curve.error[i]) / static_cast<double>(curve.rows.size());
  }
  std::vector<double> line;
  for (const double n : curve.rows)
    line.push_back(std::exp(y + curve.expected * (std::log(n) - x)));
  return line;
}

Chart rate_chart(const Theory& theory, int theorem) {
  Chart chart({.title = fmt::format("Theorem {}", theorem),
               .x_label = "calibration rows n",
               .y_label = "quantile MSE",
               .width = 560,
               .height = 440,
               .x_scale = AxisScale::kLog,
               .y_scale = AxisScale::kLog});
  std::size_t k = 0;
  for (const RateCurve& curve : theory.rates) {
    if (curve.theorem != theorem) continue;
    // Dashed, the theorem's slope through the same middle.
    chart.line(curve.rows, reference(curve), ink_of(k), Stroke::kDashed, "");
    chart.line(curve.rows, curve.error, ink_of(k), Stroke::kSolid,
               fmt::format("{}: slope {:.2f} (theorem {:.2f})", curve.name, curve.fitted.slope,
                           curve.expected));
    chart.scatter(curve.rows, curve.error, ink_of(k), "");
    ++k;
  }
  return chart;
}

Chart column_chart(const Theory& theory) {
  Chart chart({.title = "Theorem 5",
               .x_label = "features in the kernel",
               .y_label = "pinball loss",
               .width = 560,
               .height = 440});
  for (std::size_t k = 0; k < theory.columns.size(); ++k) {
    const ColumnCurve& curve = theory.columns[k];
    std::vector<double> x;
    for (std::size_t i = 0; i < curve.loss.size(); ++i) x.push_back(static_cast<double>(i));
    const bool law = curve.rows == 0;
    chart.line(x, curve.loss, law ? Ink::kGrey : ink_of(k - 1),
               law ? Stroke::kDashed : Stroke::kSolid, curve.name);
    chart.scatter(x, curve.loss, law ? Ink::kGrey : ink_of(k - 1), "");
  }
  return chart;
}

}  // namespace

std::vector<std::vector<std::string>> slope_cells(const Theory& theory) {
  std::vector<std::vector<std::string>> rows = {
      {"theorem", "kernel on", "slope", "standard error", "theorem's slope"}};
  for (const RateCurve& curve : theory.rates) {
    rows.push_back({fmt::format("{}", curve.theorem), curve.name,
                    fmt::format("{:.3f}", curve.fitted.slope),
                    fmt::format("{:.3f}", curve.fitted.standard_error),
                    fmt::format("{:.3f}", curve.expected)});
  }
  return rows;
}

std::vector<std::vector<std::string>> rate_cells(const Theory& theory) {
  std::vector<std::vector<std::string>> rows = {{"n"}};
  for (const RateCurve& curve : theory.rates) {
    rows[0].push_back(fmt::format("{} (Th. {})", curve.name, curve.theorem));
  }
  for (std::size_t i = 0; !theory.rates.empty() && i < theory.rates[0].rows.size(); ++i) {
    rows.push_back({fmt::format("{:.0f}", theory.rates[0].rows[i])});
    for (const RateCurve& curve : theory.rates) {
      rows.back().push_back(fmt::format("{:.3g}", curve.error[i]));
    }
  }
  return rows;
}

std::vector<std::vector<std::string>> column_cells(const Theory& theory) {
  std::vector<std::vector<std::string>> rows = {{"features seen"}};
  for (std::size_t k = 0; !theory.columns.empty() && k < theory.columns[0].loss.size(); ++k) {
    rows[0].push_back(fmt::format("{}", k));
  }
  for (const ColumnCurve& curve : theory.columns) {
    rows.push_back({curve.name});
    for (const double loss : curve.loss) rows.back().push_back(fmt::format("{:.4f}", loss));
  }
  return rows;
}

std::string theory_csv(const Theory& theory) {
  std::string text = "theorem,curve,rows,features,quantity,value\n";
  for (const RateCurve& c : theory.rates) {
    for (std::size_t i = 0; i < c.rows.size(); ++i) {
      text +=
          fmt::format("{},{},{:.0f},,quantile_mse,{}\n", c.theorem, c.name, c.rows[i], c.error[i]);
    }
    text += fmt::format("{},{},,,slope,{}\n", c.theorem, c.name, c.fitted.slope);
    text += fmt::format("{},{},,,slope_standard_error,{}\n", c.theorem, c.name,
                        c.fitted.standard_error);
    text += fmt::format("{},{},,,theorem_slope,{}\n", c.theorem, c.name, c.expected);
  }
  for (const ColumnCurve& c : theory.columns) {
    const std::string rows = c.rows > 0 ? fmt::format("{}", c.rows) : "";
    for (std::size_t k = 0; k < c.loss.size(); ++k) {
      text += fmt::format("5,\"{}\",{},{},pinball,{}\n", c.name, rows, k, c.loss[k]);
    }
  }
  return text;
}

std::string theory_figure(const Theory& theory) {
  const std::vector<Chart> charts = {rate_chart(theory, 1), rate_chart(theory, 3),
                                     column_chart(theory)};
  return render_panels({std::string(kTitle), charts.size()}, charts);
}

std::string theory_markdown(const Theory& theory, const std::string& provenance) {
  return fmt::format("# {}\n\n{}\n\n![](theory.svg)\n\n{}\n\n{}\n{}\n{}\n\n{}", kTitle, provenance,
                     kRates, markdown_table(slope_cells(theory)),
                     markdown_table(rate_cells(theory)), kColumns,
                     markdown_table(column_cells(theory)));
}

std::string theory_html(const Theory& theory, const std::string& provenance) {
  const std::string figure = fmt::format(
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Figure\">\n{}</div>\n",
      theory_figure(theory));
  const std::string rates = paragraph(kRates) + html_table(slope_cells(theory), "Slopes") +
                            html_table(rate_cells(theory), "Quantile MSE by rows");
  return page_html({std::string(kTitle),
                    provenance,
                    figure,
                    {{"rates", "Theorems 1 and 3: rates", rates},
                     {"columns", "Theorem 5: features",
                      paragraph(kColumns) + html_table(column_cells(theory), "Pinball loss")}}});
}

}  // namespace tare
