// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "base/fail.h"
#include "io/csv.h"
#include "io/files/atomic_file.h"
#include "report/figures/band_plot.h"
#include "support/bar.h"
#include "support/command.h"
#include "support/terminal.h"
#include "support/text_table.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"
#include "tare/evaluate/metrics.h"
#include "tare/model/regressor.h"

namespace tare::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct DemoOptions {
  std::string problem = "sine";
  std::string regressor = "boosting";
  std::string kernel = "gaussian";
  std::size_t rows = 40'000;
  double share = 0.1;  // of the rows that calibrate: the paper's 4,000 of 40,000
  std::size_t test_rows = 10'000;
  std::string plot = "tare_demo.svg";
  std::string write;
  std::uint64_t seed = 1;
  bool force = false;
};

struct DemoRow {
  std::string name;
  double ice = 0.0;
  double rmse = 0.0;
  double check_score = 0.0;
  double length = 0.0;
  double coverage = 0.0;
};

std::vector<double> column(MatrixView q, std::size_t j) {
  std::vector<double> values(q.rows());
  for (std::size_t i = 0; i < q.rows(); ++i) values[i] = q(i, j);
  return values;
}

/// The levels of the metrics, followed by those of the 90 % interval.
std::vector<Level> demo_levels() {
  std::vector<Level> levels = metric_levels();
  const auto [lower, upper] = interval_levels(0.9);
  levels.push_back(lower);
  levels.push_back(upper);
  return levels;
}

DemoRow score(std::string name, const Problem& problem, const Sample& test, const Matrix& q) {
  const std::vector<Level> levels = metric_levels();
  const MatrixView metric_q(q.view().data(), q.rows(), levels.size(), q.cols());
  const auto lower = column(q, levels.size());
  const auto upper = column(q, levels.size() + 1);
  return {std::move(name),
          individual_calibration_error(problem, test.x, metric_q, levels),
          quantile_rmse(problem, test.x, metric_q, levels),
          check_score(test.y, metric_q, levels),
          interval_length(lower, upper),
          interval_coverage(test.y, lower, upper)};
}

Matrix true_quantiles(const Problem& problem, MatrixView x, std::span<const Level> levels) {
  Matrix q(x.rows(), levels.size());
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const Law law = problem.law(x.row(i));
    for (std::size_t j = 0; j < levels.size(); ++j) q(i, j) = law.quantile(levels[j].value());
  }
  return q;
}

/// A point model, and the two calibrators that are compared with it.
struct Fitted {
  std::unique_ptr<Regressor> point;
  std::unique_ptr<QuantileModel> local;
  std::unique_ptr<QuantileModel> marginal;
};

Matrix given_by(const Regressor& point, MatrixView x, const Execution& how) {
  Matrix given(x.rows(), 1);
  point.predict(x, given.values(), how);
  return given;
}

Fitted fit_both(const DemoOptions& options, const Sample& data, const Execution& how) {
  const std::size_t rows = data.y.size();
  const auto calibrating = static_cast<std::size_t>(options.share * static_cast<double>(rows));
  const std::size_t training = rows - calibrating;
  const std::span<const double> y = data.y;
  Fitted fitted;
  fitted.point = find_regressor(options.regressor)
                     .fit({data.x.view().middle_rows(0, training), y.first(training), {}}, {},
                          split(Seed{options.seed}, 2), how);
  const MatrixView x = data.x.view().middle_rows(training, calibrating);
  const Matrix given = given_by(*fitted.point, x, how);
  FitInput input{.x = x, .y = y.subspan(training), .given = given};
  input.seed = split(Seed{options.seed}, 3);
  Params params;
  params.set("kernel", options.kernel);
  fitted.local = fit_method(find_method("nrc"), input, params, how);
  params.set("bandwidth", "infinite");
  fitted.marginal = fit_method(find_method("nrc"), input, params, how);
  return fitted;
}

std::string draw_picture(const DemoOptions& options, const Problem& problem, const Sample& data,
                         const Fitted& fitted, const Execution& how) {
  constexpr std::size_t kGrid = 600;
  constexpr std::size_t kPoints = 1'500;
  BandPlot plot;
  plot.title = fmt::format("{}: 95 % band of NRC on {}", problem.name, options.regressor);
  plot.x_label = "x";
  plot.y_label = "y";
  double low = data.x(0, 0);
  double high = low;
  for (std::size_t i = 0; i < data.x.rows(); ++i) {
    low = std::min(low, data.x(i, 0));
    high = std::max(high, data.x(i, 0));
  }
  for (std::size_t i = 0; i < std::min(kPoints, data.y.size()); ++i) {
    plot.point_x.push_back(data.x(i, 0));
    plot.point_y.push_back(data.y[i]);
  }
  Matrix grid(kGrid, 1);
  for (std::size_t i = 0; i < kGrid; ++i) {
    grid(i, 0) = low + (high - low) * static_cast<double>(i) / static_cast<double>(kGrid - 1);
    plot.x.push_back(grid(i, 0));
  }
  const auto [lower, upper] = interval_levels(0.95);
  const std::vector<Level> levels = {lower, Level{0.5}, upper};
  const Matrix truth = true_quantiles(problem, grid, levels);
  const Matrix given = given_by(*fitted.point, grid, how);
  const Matrix predicted = fitted.local->predict({grid, given}, levels, how).quantiles;
  for (std::size_t i = 0; i < kGrid; ++i) {
    plot.true_mean.push_back(problem.law(grid.row(i)).mean());
  }
  plot.true_lower = column(truth, 0);
  plot.true_upper = column(truth, 2);
  plot.lower = column(predicted, 0);
  plot.median = column(predicted, 1);
  plot.upper = column(predicted, 2);
  return band_plot(plot);
}

void write_sample(const DemoOptions& options, const Sample& data) {
  std::string text;
  for (std::size_t j = 0; j < data.x.cols(); ++j) {
    text += data.x.cols() == 1 ? "x," : fmt::format("x{},", j);
  }
  text += "y\n";
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    for (const double value : data.x.row(i)) {
      append_csv_number(text, value);
      text += ',';
    }
    append_csv_number(text, data.y[i]);
    text += '\n';
  }
  AtomicFile file(options.write, options.force ? Overwrite::kAllow : Overwrite::kRefuse);
  file.write(text);
  file.commit();
}

void print_rows(const std::vector<DemoRow>& rows) {
  std::vector<std::vector<std::string>> table = {
      {"calibrator", "ICE", "quantile RMSE", "CheckScore", "Length 90 %", "Coverage 90 %"}};
  for (const DemoRow& row : rows) {
    table.push_back({row.name, fmt::format("{:.4f}", row.ice), fmt::format("{:.4f}", row.rmse),
                     fmt::format("{:.4f}", row.check_score), fmt::format("{:.3f}", row.length),
                     fmt::format("{:.3f}", row.coverage)});
  }
  say("{}", text_table(table));
  say("ICE, the individual calibration error, is the mean over x of the distance between a level "
      "and the true probability below its quantile.\n");
}

OrderedJson to_json(const std::vector<DemoRow>& rows) {
  auto json = OrderedJson::array();
  for (const DemoRow& row : rows) {
    json.push_back({{"calibrator", row.name},
                    {"ice", row.ice},
                    {"quantile_rmse", row.rmse},
                    {"check_score", row.check_score},
                    {"length_90", row.length},
                    {"coverage_90", row.coverage}});
  }
  return json;
}

void run_demo(const DemoOptions& options, const Common& common) {
  const Problem& problem = find_problem(options.problem);
  const Sample data = draw(problem, options.rows, split(Seed{options.seed}, 0));
  if (!options.write.empty()) {
    write_sample(options, data);
    note(common, fmt::format("{}: {} rows of '{}'", options.write, options.rows, problem.name));
    return;
  }

  // Opened before the work, so that a file that exists without --force fails at once.
  std::optional<AtomicFile> picture;
  if (!options.plot.empty() && problem.dims == 1) {
    picture.emplace(options.plot, options.force ? Overwrite::kAllow : Overwrite::kRefuse);
  }
  const auto start = std::chrono::steady_clock::now();
  Bar bar(common);
  const Execution how = bar.execution();
  const Fitted fitted = fit_both(options, data, how);
  const Sample test = draw(problem, options.test_rows, split(Seed{options.seed}, 1));
  const Matrix given = given_by(*fitted.point, test.x, how);
  const std::vector<Level> levels = demo_levels();
  const auto quantiles = [&](const QuantileModel& model) {
    return model.predict({test.x, given}, levels, how).quantiles;
  };
  const std::vector<DemoRow> rows = {
      score("NRC (local)", problem, test, quantiles(*fitted.local)),
      score("marginal", problem, test, quantiles(*fitted.marginal)),
      score("the true law", problem, test, true_quantiles(problem, test.x, levels)),
  };
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  bar.show_text("");
  if (common.json) {
    fmt::print("{}\n", to_json(rows).dump(2));
  } else {
    say("{}: {} rows, of which {:.0f} calibrate; point model f: {}; tested on {} new rows; {:.1f} "
        "s\n"
        "\n",
        problem.summary, options.rows, options.share * static_cast<double>(options.rows),
        options.regressor, options.test_rows, seconds);
    print_rows(rows);
  }
  if (picture) {
    picture->write(draw_picture(options, problem, data, fitted, how));
    picture->commit();
    note(common, fmt::format("picture: {}", options.plot));
  }
}

}  // namespace

void add_demo(CLI::App& app, Common& common) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* command = app.add_subcommand(
      "demo", "Fit and test a model on built-in data with a known conditional distribution");
  std::string names;
  for (const Problem& problem : problems()) names += (names.empty() ? "" : ", ") + problem.name;
  command->footer(
      "Examples:\n"
      "  tare demo\n"
      "  tare demo --problem skewed_2 --regressor forest\n"
      "  tare demo --write sine.csv --rows 5000     (data to try 'tare fit' on)");
  command->add_option("--problem", options->problem, names)->capture_default_str();
  command
      ->add_option("--regressor", options->regressor, "Point model: ridge, forest, boosting, zero")
      ->capture_default_str();
  command->add_option("--kernel", options->kernel, "Kernel of SNQ")->capture_default_str();
  command->add_option("--rows", options->rows, "Rows to draw")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{100}, std::size_t{10'000'000}));
  command->add_option("--test-rows", options->test_rows, "Number of new rows for testing")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}));
  command->add_option("--share", options->share, "Share of the rows used for calibration")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 0.9));
  command
      ->add_option("--plot", options->plot,
                   "Figure to write for a problem with one feature; '' writes none")
      ->capture_default_str();
  command->add_option("--write", options->write, "Only write the rows to this CSV file");
  command
      ->add_option("--seed", options->seed,
                   "Seed of random numbers; the same seed gives the same numbers")
      ->capture_default_str()
      ->check(whole_number());
  command->add_flag("--force", options->force, "Replace files that exist");
  add_common(*command, common);
  command->callback([options, &common] { run_demo(*options, common); });
}

}  // namespace tare::cli
