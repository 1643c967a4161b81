// SPDX-License-Identifier: BSD-3-Clause
#include "support/input.h"

#include <chrono>
#include <utility>

#include "apply/kept_columns.h"
#include "base/fail.h"
#include "data/external_model.h"
#include "support/help.h"

namespace tare::cli {
namespace {

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

/// Without a word of the user as at fit; but not drop: a row that vanishes from the answer must be
/// asked for.
MissingPolicy missing_policy(const Schema& schema, const std::string& asked) {
  if (!asked.empty()) return parse_missing_policy(asked);
  return schema.missing() == MissingPolicy::kImpute ? MissingPolicy::kImpute
                                                    : MissingPolicy::kError;
}

RowEncoder::GivenBy program_of(const Schema& schema, const InputOptions& options) {
  check_predictor(schema, options.predictor);
  if (options.predictor.empty()) return {};
  const auto timeout = static_cast<std::int64_t>(options.timeout_s * 1000.0);
  const ExternalModel program{options.predictor, std::chrono::milliseconds(timeout)};
  return [&schema, program](const Table& table, const std::vector<std::size_t>& rows) {
    return run_external_model(program, schema, table, rows);
  };
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
  put_in_group(command, kColumns, {"--missing"});
  put_in_group(command, kYourModel, {"--predictor", "--timeout"});
}

ModelInput::ModelInput(const FittedModel& fitted, const std::string& path, Need need,
                       const InputOptions& options, const std::vector<std::string>& keep)
    : reader_(path),
      encoder_(*fitted.schema, need, missing_policy(*fitted.schema, options.missing),
               program_of(*fitted.schema, options)) {
  const auto& header = reader_.header();
  keep_ = kept_columns(reader_.source(), header, keep);
  std::vector<ColumnRequest> requests = fitted.schema->requests(reader_.source(), header, need);
  keep_raw(header, keep_, requests);
  for (ColumnRequest& request : requests) {
    const bool for_program = !options.predictor.empty() && request.kind != ColumnKind::kSkip;
    request.raw = request.raw || for_program;
  }
  reader_.select(std::move(requests));
}

bool ModelInput::read(std::size_t max_rows) {
  if (!reader_.read(table_, max_rows)) {
    if (rows_read_ == 0)
      fail(ErrorCode::kBadData, {.source = reader_.source()}, "a header and no data rows");
    return false;
  }
  rows_read_ += table_.rows();
  encoder_.encode(table_);
  return true;
}

void ModelInput::check_any_row() const {
  if (rows_used() > 0) return;
  fail(ErrorCode::kBadData,
       "{}: every one of its {} rows has a missing value, so there is no row to measure on",
       reader_.source(), rows_read_);
}

void ModelInput::warn_at_end(const Common& common) const {
  for (const Notice& notice : encoder_.notices()) {
    warn(common, fmt::format("{}: {}", reader_.source(), notice.text));
  }
}

}  // namespace tare::cli
