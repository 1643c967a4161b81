// SPDX-License-Identifier: BSD-3-Clause
#include "input.h"

#include <algorithm>
#include <utility>

#include "base/fail.h"
#include "base/strings.h"

namespace tare::cli {
namespace {

std::vector<std::string> columns_to_keep(const std::vector<std::string>& header,
                                         const std::vector<std::string>& keep,
                                         const std::string& source) {
  if (keep.size() == 1 && keep.front() == "all" &&
      std::find(header.begin(), header.end(), "all") == header.end()) {
    return header;
  }
  for (const std::string& name : keep) {
    if (std::find(header.begin(), header.end(), name) == header.end()) {
      const auto near = closest_names(name, header);
      fail(ErrorCode::kNotFound, "{}: has no column '{}' to keep ({})", source, name,
           near.empty() ? "--keep all keeps every one there is"
                        : "did you mean " + join(near, " or ") + "?");
    }
  }
  return keep;
}

/// A model file never starts a program by itself: it may come from somebody else.
void check_predictor(const Schema& schema, const std::string& predictor) {
  if (schema.predictor().empty() == predictor.empty()) return;
  if (predictor.empty()) {
    fail(ErrorCode::kInvalidArgument,
         "the model's predictions come from a program, which a model file does not start by "
         "itself: pass "
         "--predictor '{}' again",
         schema.predictor());
  }
  fail(ErrorCode::kInvalidArgument, "the model has its own point model and takes no --predictor");
}

}  // namespace

void add_input_options(CLI::App& command, InputOptions& options) {
  command.add_option(
      "--missing", options.missing,
      "Missing values: error, drop (leave the row out), impute (the fit's median or most frequent "
      "category). Without it impute for a model fitted so, else error");
  command.add_option("--predictor", options.predictor,
                     "The program that gives the predictions, for a model fitted with --predictor");
  command
      .add_option("--timeout", options.timeout_s,
                  "Seconds the predictor may take for a batch of rows")
      ->capture_default_str()
      ->check(seconds());
}

ModelInput::ModelInput(const FittedModel& fitted, const std::string& path, Need need,
                       const InputOptions& options, const std::vector<std::string>& keep)
    : fitted_(fitted),
      reader_(path),
      need_(need),
      missing_(MissingPolicy::kError),
      windows_(fitted.schema->window()) {
  check_predictor(*fitted.schema, options.predictor);
  if (!options.missing.empty()) {
    missing_ = parse_missing_policy(options.missing);
  } else if (fitted.schema->missing() == MissingPolicy::kImpute) {
    missing_ =
        MissingPolicy::kImpute;  // not drop: a row that vanishes from the answer must be asked for
  }
  external_.command = options.predictor;
  external_.timeout =
      std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout_s * 1000.0));
  const auto& header = reader_.header();
  keep_ = columns_to_keep(header, keep, reader_.source());
  std::vector<ColumnRequest> requests = fitted.schema->requests(reader_.source(), header, need);
  for (std::size_t j = 0; j < header.size(); ++j) {
    const bool kept = std::find(keep_.begin(), keep_.end(), header[j]) != keep_.end();
    const bool for_program = !options.predictor.empty() && requests[j].kind != ColumnKind::kSkip;
    requests[j].raw = requests[j].raw || kept || for_program;
  }
  reader_.select(std::move(requests));
}

bool ModelInput::read(std::size_t max_rows) {
  if (!reader_.read(table_, max_rows)) {
    if (rows_read_ == 0)
      fail(ErrorCode::kBadData, "{}: a header and no data rows", reader_.source());
    return false;
  }
  rows_read_ += table_.rows();
  encoded_ = fitted_.schema->encode(table_, need_, missing_);
  if (!external_.command.empty()) {
    const auto predicted = run_external_model(external_, *fitted_.schema, table_, encoded_.rows);
    encoded_.given = Matrix(predicted, predicted.size(), 1);
  }
  windows_.apply(encoded_);
  if (const GroupColumn& group = fitted_.schema->group(); !group.empty()) {
    group_ = group.codes(table_, encoded_.rows);
    unseen_groups_ += static_cast<std::size_t>(std::ranges::count(group_, GroupColumn::kUnseen));
  }
  dropped_ += encoded_.dropped;
  imputed_ += encoded_.imputed;
  unseen_ += encoded_.unseen;
  return true;
}

void ModelInput::check_any_row() const {
  if (rows_used() > 0) return;
  fail(ErrorCode::kBadData,
       "{}: every one of its {} rows has a missing value, so there is no row to measure on",
       reader_.source(), rows_read_);
}

void ModelInput::warn_at_end(const Common& common) const {
  if (dropped_ > 0) {
    warn(common,
         fmt::format("{}: {} rows with a missing value were left out", reader_.source(), dropped_));
  }
  if (windows_.left_out() > 0) {
    warn(common, fmt::format("{}: {} rows at the start have no full window of {} and were left out",
                             reader_.source(), windows_.left_out(), fitted_.schema->window()));
  }
  if (imputed_ > 0)
    warn(common, fmt::format("{}: {} missing values were imputed", reader_.source(), imputed_));
  if (unseen_groups_ > 0) {
    warn(common, fmt::format("{}: {} rows have a value of '{}' that was not there at fit; the "
                             "ranks of all rows answer them, and nothing is guaranteed for them",
                             reader_.source(), unseen_groups_, fitted_.schema->group().name()));
  }
  if (unseen_ > 0) {
    warn(common,
         fmt::format(
             "{}: {} cells hold a category that was not there at fit; they count as none of the "
             "known ones",
             reader_.source(), unseen_));
  }
}

}  // namespace tare::cli
