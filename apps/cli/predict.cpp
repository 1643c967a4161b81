// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "bar.h"
#include "base/fail.h"
#include "command.h"
#include "input.h"
#include "io/atomic_file.h"
#include "io/csv.h"
#include "levels.h"
#include "tare/calibrate/model_file.h"
#include "tare/calibrate/reliability.h"
#include "tare/calibrate/warnings.h"
#include "warning_text.h"

namespace tare::cli {
namespace {

/// Rows in memory at a time: enough to keep every core busy and to have neighbours among them,
/// which share work; little enough to stream a file of any length in a few ten megabytes. The first
/// rows come in smaller batches, so that who reads a stream need not wait for so many.
std::size_t rows_at_a_time(std::size_t levels, std::size_t rows_so_far) {
  const std::size_t most = std::clamp<std::size_t>(1'000'000 / levels, 4'096, 65'536);
  return std::clamp<std::size_t>(rows_so_far, 4'096, most);
}

struct PredictOptions {
  std::string model;
  std::string data;
  std::string output = "-";
  std::string levels;
  std::string intervals;
  std::string keep;
  InputOptions input;
  bool diagnostics = false;
  bool force = false;
};

/// What is written beside the quantiles.
struct ExtraColumns {
  bool diagnostics = false;
  bool delivered = false;  // there is a guarantee, whose levels can be told
};

/// Names of all output columns: kept ones, quantiles, diagnostics.
std::vector<std::string> output_names(const ModelInput& input, const LevelRequest& request,
                                      const ExtraColumns& extra) {
  std::vector<std::string> results = request.names;
  if (extra.diagnostics) {
    results.insert(results.end(), {"effective_n", "nearest", "fallback", "outside"});
    for (const std::string& name : request.names) {
      results.push_back(name + "_low");
      results.push_back(name + "_high");
    }
  }
  if (extra.delivered) {
    for (const auto& column : request.delivered) results.push_back(column.name);
  }
  std::vector<std::string> names = input.keep();
  for (const std::string& name : names) {
    if (std::find(results.begin(), results.end(), name) == results.end()) continue;
    fail(ErrorCode::kInvalidArgument,
         "'{}' would be two columns of the output, one kept and one a result (leave it out of "
         "--keep, or rename it)",
         name);
  }
  names.insert(names.end(), results.begin(), results.end());
  return names;
}

/// The level of a quantile, or what lies between those of an interval's ends: nothing where these
/// are weaker than together 1.
double delivered(const Prediction& prediction, std::size_t i,
                 const LevelRequest::Delivered& column) {
  const std::span<const double> levels = prediction.delivered.row(i);
  if (column.level == column.upper) return levels[column.level];
  return std::max(0.0, levels[column.upper] - levels[column.level]);
}

void append_extra_csv(std::string& out, const LevelRequest& request, const Prediction& prediction,
                      std::size_t i, const ExtraColumns& extra) {
  const auto number = [&](double value) {
    out += ',';
    append_csv_number(out, value);
  };
  const auto flag = [&](std::uint8_t value) { out += value != 0 ? ",1" : ",0"; };
  // A cell is empty where the model does not know.
  if (extra.diagnostics) {
    if (prediction.effective_n.empty()) {
      out += ',';
    } else {
      number(prediction.effective_n[i]);
    }
    if (prediction.nearest.empty()) {
      out.append(3, ',');
    } else {
      number(prediction.nearest[i]);
      flag(prediction.fallback[i]);
      flag(prediction.outside[i]);
    }
    for (std::size_t j = 0; j < request.names.size(); ++j) {
      if (prediction.band_low.cols() == 0) {
        out.append(2, ',');
      } else {
        number(prediction.band_low(i, j));
        number(prediction.band_high(i, j));
      }
    }
  }
  if (!extra.delivered) return;
  for (const auto& column : request.delivered) number(delivered(prediction, i, column));
}

void append_row_csv(std::string& out, const std::vector<const Column*>& kept, std::size_t table_row,
                    const LevelRequest& request, const Prediction& prediction, std::size_t i,
                    const ExtraColumns& extra) {
  bool first = true;
  const auto comma = [&] {
    if (!first) out += ',';
    first = false;
  };
  for (const Column* column : kept) {
    comma();
    append_csv_cell(out, column->raw[table_row]);
  }
  for (const double q : prediction.quantiles.row(i)) {
    comma();
    append_csv_number(out, q);
  }
  append_extra_csv(out, request, prediction, i, extra);
  out += '\n';
}

void append_row_json(std::string& out, const std::vector<const Column*>& kept,
                     std::size_t table_row, const LevelRequest& request,
                     const Prediction& prediction, std::size_t i, const ExtraColumns& extra) {
  nlohmann::ordered_json row;
  for (const Column* column : kept) row[column->name] = std::string(column->raw[table_row]);
  for (std::size_t j = 0; j < request.names.size(); ++j) {
    row[request.names[j]] = prediction.quantiles(i, j);
  }
  if (extra.diagnostics && !prediction.effective_n.empty()) {
    row["effective_n"] = prediction.effective_n[i];
  }
  if (extra.diagnostics && !prediction.nearest.empty()) {
    row["nearest"] = prediction.nearest[i];
    row["fallback"] = prediction.fallback[i] != 0;
    row["outside"] = prediction.outside[i] != 0;
  }
  if (extra.diagnostics && prediction.band_low.cols() > 0) {
    for (std::size_t j = 0; j < request.names.size(); ++j) {
      row[request.names[j] + "_low"] = prediction.band_low(i, j);
      row[request.names[j] + "_high"] = prediction.band_high(i, j);
    }
  }
  if (extra.delivered) {
    for (const auto& column : request.delivered) {
      row[column.name] = delivered(prediction, i, column);
    }
  }
  // A file of another encoding must not stop the answer: bad bytes are replaced.
  out += row.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  out += '\n';
}

void run_predict(const PredictOptions& options, const Common& common) {
  const LevelRequest request = parse_levels(options.levels, options.intervals);
  const FittedModel fitted = load_model(options.model);
  ModelInput input(fitted, options.data, Need::kFeatures, options.input, parse_names(options.keep));
  // Of no rows: it has columns where there is a guarantee.
  const Matrix delivered_levels =
      fitted.model->delivered({MatrixView(nullptr, 0, fitted.model->features())}, request.levels);
  const ExtraColumns extra{.diagnostics = options.diagnostics,
                           .delivered = options.diagnostics && delivered_levels.cols() > 0};
  const auto names = output_names(input, request, extra);
  AtomicFile file(options.output, options.force ? Overwrite::kAllow : Overwrite::kRefuse);

  Bar bar(common);
  Execution how;
  how.threads = common.threads;
  how.diagnostics = options.diagnostics;
  std::string text;
  if (!common.json) {
    for (std::size_t j = 0; j < names.size(); ++j) {
      if (j > 0) text += ',';
      append_csv_cell(text, names[j]);
    }
    text += '\n';
  }
  WarningTally tally(*fitted.model, request.levels);
  while (input.read(rows_at_a_time(request.levels.size(), input.rows_read()))) {
    const Prediction prediction =
        extra.diagnostics
            ? predict_with_reliability(*fitted.model, input.rows(), request.levels, how)
            : fitted.model->predict(input.rows(), request.levels, how);
    tally.add(input.rows(), prediction);
    std::vector<const Column*> kept;
    for (const std::string& name : input.keep()) kept.push_back(input.table().find(name));
    for (std::size_t i = 0; i < prediction.quantiles.rows(); ++i) {
      const std::size_t table_row = input.encoded().rows[i];
      if (common.json) {
        append_row_json(text, kept, table_row, request, prediction, i, extra);
      } else {
        append_row_csv(text, kept, table_row, request, prediction, i, extra);
      }
    }
    file.write(text);
    text.clear();
    bar.show_text(fmt::format("{} rows", input.rows_read()));
  }
  file.write(text);
  file.commit();
  bar.show_text("");
  input.warn_at_end(common);
  warn_about_answers(tally.list(), common);
}

}  // namespace

void add_predict(CLI::App& app, Common& common) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* command =
      app.add_subcommand("predict", "Quantiles or intervals for the rows of a file");
  command->footer(
      "Examples:\n"
      "  tare predict cars.tare new.csv --levels 0.05,0.5,0.95 > quantiles.csv\n"
      "  tare predict cars.tare new.csv --interval 0.9 --keep id --diagnostics -o intervals.csv\n"
      "  gzip -dc big.csv.gz | tare predict cars.tare - --interval 0.5,0.9 | head\n"
      "With --json each row is an object on a line of its own. Warnings go to standard error, with "
      "a\n"
      "code in brackets: infinite_answer, beyond_kept_levels, fallback; with --diagnostics also\n"
      "few_effective_rows and outside, and columns that show which rows.");
  command->add_option("model", options->model, "Model file of 'tare fit'")->required();
  command->add_option("data", options->data, "CSV or TSV file, also .gz; - is standard input")
      ->required();
  command->add_option("-o,--output", options->output, "File to write; - is standard output")
      ->capture_default_str();
  command->add_option(
      "--levels", options->levels,
      "Quantile levels with commas, in any order [0.05,0.5,0.95]: columns q0.05, q0.5, ...");
  command->add_option("--interval", options->intervals,
                      "Central intervals: 0.9, or a list: columns lower_0.9, upper_0.9, ...");
  command->add_option("--keep", options->keep,
                      "Input columns to copy through, with commas, or 'all'");
  command->add_flag(
      "--diagnostics", options->diagnostics,
      "Add how far each answer can be trusted: effective_n (independent draws from this row's own "
      "distribution that would pin its quantiles as well), nearest, fallback (distance to the "
      "nearest calibration row, and 1 where none was in reach), outside (1: farther from the data "
      "than 99 % of it is), q0.05_low and q0.05_high, ... (90 % band for the true quantile), and "
      "with a guarantee delivered_q0.05 or delivered_0.9 (the level its ranks keep). effective_n "
      "and bands are empty unless the model was fitted with --bands");
  command->add_flag("--force", options->force, "Replace the output file if it exists");
  add_input_options(*command, options->input);
  add_common(*command, common);
  command->callback([options, &common] { run_predict(*options, common); });
}

}  // namespace tare::cli
