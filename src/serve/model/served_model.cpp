// SPDX-License-Identifier: BSD-3-Clause
#include "serve/model/served_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/fail.h"
#include "data/schema.h"
#include "io/files/whole_file.h"
#include "io/json_text.h"
#include "io/safetensors.h"
#include "serve/http/refusal.h"
#include "serve/http/time_limit.h"
#include "serve/model/model_card.h"
#include "serve/model/online_card.h"
#include "serve/model/predict_rows.h"
#include "serve/rows/json_body.h"

namespace tare::serve {
namespace {

void check_predictor(const FittedModel& fitted, const std::string& path) {
  if (fitted.schema->predictor().empty()) return;
  fail(ErrorCode::kUnsupported,
       {.source = path,
        .remedies = {{"fit with", "prediction", "COL", "and let clients send that column"}}},
       "its predictions come from the program '{}', which the service does not start for each "
       "request",
       fitted.schema->predictor());
}

/// A file may be whole and its model useless; better noticed before it serves.
void check_answers(const ServedModel& model, const std::string& path) {
  // A stream at its beginning answers once it has been taught; that is what the service is for.
  if (model.online() && !model.online()->stream().is_ready()) return;
  const std::string row = typical_row_json(describe(model.fitted()));
  std::string body;
  for (std::size_t i = 0; i < model.schema().window(); ++i) body += row + "\n";
  try {
    const Table table = parse_ndjson_body(body, model.features(), {model.schema().window()});
    Predictor predictor(model.fitted());
    const Answers answers = answer_rows(model, predictor, table, TimeLimit());
    for (const double value : answers.values.values()) {
      if (std::isnan(value)) fail(ErrorCode::kCorruptFile, {.source = path}, "answers with NaN");
    }
  } catch (const Refusal& refusal) {
    fail(ErrorCode::kCorruptFile, {.source = path}, "cannot answer a typical row: {}",
         refusal.detail());
  }
}

}  // namespace

ServedModel::ServedModel(FittedModel fitted, std::string version)
    : fitted_(std::move(fitted)),
      online_(online_in(fitted_)),
      version_(std::move(version)),
      features_(*fitted_.schema, Need::kFeatures),
      features_and_target_(*fitted_.schema, Need::kFeaturesAndTarget),
      cells_per_row_(fitted_.schema->feature_names().size() * fitted_.schema->window()),
      card_(online_ ? "" : model_card_json(describe(fitted_), version_)) {}

std::string ServedModel::card() const {
  if (!online_) return card_;
  return model_card_json(describe(fitted_), version_, online_card_json(*online_, schema()));
}

std::shared_ptr<const ServedModel> ServedModel::load(const std::string& path) {
  std::vector<std::byte> bytes = read_whole_file(path);
  std::string version = stated_checksum(bytes);
  FittedModel fitted = load_model_from_memory(std::move(bytes), path);
  check_predictor(fitted, path);
  std::shared_ptr<const ServedModel> model(new ServedModel(std::move(fitted), std::move(version)));
  check_answers(*model, path);
  return model;
}

}  // namespace tare::serve
