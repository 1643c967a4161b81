// SPDX-License-Identifier: BSD-3-Clause
#include "tare/evaluate/scorecard.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "apply/row_encoder.h"
#include "base/strings.h"
#include "capi/handles.h"
#include "capi/watched.h"
#include "io/select_columns.h"

using tare::capi::guarded;
using tare::capi::needed;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRowsAtOnce = 16'384;

struct ScoreOptions {
  std::optional<tare::MissingPolicy> missing = {};
  tare::Seed seed = {};

  void set(std::string_view name, std::string_view text) {
    const std::string wanted = tare::canonical_name(name);
    if (wanted == "missing") {
      missing = tare::parse_missing_policy(text);
    } else if (wanted == "seed") {
      const auto number = tare::parse_count(text);
      if (!number) tare::fail_option(wanted, text, "must be a whole number from 0 on");
      seed = tare::Seed{*number};
    } else {
      tare::fail(tare::ErrorCode::kInvalidArgument,
                 "unknown option '{}' (known: missing, seed, threads)", name);
    }
  }
};

tare::Scores scores_of(const tare::FittedModel& fitted, const tare::Table& table,
                       const ScoreOptions& options, const tare::Execution& how) {
  if (!fitted.schema) {
    tare::fail(tare::ErrorCode::kInvalidArgument,
               "the model was fitted to a matrix and has no names of columns, so a table cannot be "
               "scored");
  }
  tare::RowEncoder encoder(*fitted.schema, tare::Need::kFeaturesAndTarget, options.missing);
  encoder.encode(tare::select_columns(table, encoder.requests(table.source, table.names(), {})));
  const tare::Rows all = encoder.rows();
  const std::span<const double> targets = encoder.encoded().y;
  tare::Execution quantiles_only = how;
  quantiles_only.diagnostics = false;
  tare::Scorecard card;
  for (std::size_t first = 0; first < targets.size(); first += kRowsAtOnce) {
    const std::size_t count = std::min(kRowsAtOnce, targets.size() - first);
    const tare::Rows rows = tare::some_rows(all, first, count);
    auto prediction = fitted.model->predict(rows, tare::Scorecard::levels(), quantiles_only);
    card.add_effective_n(*fitted.model, rows, quantiles_only, prediction);
    card.add(prediction, targets.subspan(first, count));
  }
  return card.finish(options.seed);
}

Json json_of(const tare::Scores& scores) {
  Json json = {{"rows", scores.rows}};
  for (std::size_t k = 0; k < scores.values.size(); ++k) {
    const std::optional<double>& value = scores.values[k];
    json[std::string(tare::score_table()[k].name)] = value ? Json(*value) : Json();
  }
  json["pit"] = scores.pit;
  return json;
}

}  // namespace

tare_status tare_scores(const tare_model* model, const tare_table* table,
                        const char* const* options, size_t count, char** json) {
  return guarded([&] {
    char*& out = needed(json, "json");
    ScoreOptions asked;
    const std::size_t threads = tare::capi::set_options(
        options, count, [&](auto name, auto value) { asked.set(name, value); });
    const tare::FittedModel& fitted = needed(model, "model").fitted;
    const tare::Table& rows = needed(table, "table").table;
    tare::Scores scores;
    tare::capi::watched(
        threads, [&](const tare::Execution& how) { scores = scores_of(fitted, rows, asked, how); });
    out = tare::capi::copy_text(json_of(scores).dump());
  });
}
