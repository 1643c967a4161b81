// SPDX-License-Identifier: BSD-3-Clause
#include "serve/model/served_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <utility>

#include "base/fail.h"
#include "data/schema.h"
#include "io/json_text.h"
#include "serve/http/deadline.h"
#include "serve/http/problem.h"
#include "serve/model/model_card.h"
#include "serve/model/predict_rows.h"
#include "serve/model/private_copy.h"
#include "serve/rows/json_body.h"

namespace tare::serve {
namespace {

/// The checksum that the header states; load_model has compared it with the bytes.
std::string stated_checksum(const std::string& path) {
  constexpr std::string_view kKey = "\"checksum\":\"";
  std::ifstream file(path, std::ios::binary);
  std::array<unsigned char, 8> length{};
  file.read(reinterpret_cast<char*>(length.data()), length.size());
  std::size_t bytes = 0;
  for (std::size_t i = length.size(); i-- > 0;) bytes = bytes * 256 + length[i];
  std::string header(bytes, '\0');
  file.read(header.data(), static_cast<std::streamsize>(bytes));
  const std::size_t place = header.find(kKey);
  return place == std::string::npos ? "unknown" : header.substr(place + kKey.size(), 8);
}

FittedModel load_copy(const PrivateCopy& copy, const std::string& path) {
  try {
    return load_model(copy.path());
  } catch (const Error& error) {
    std::string text = error.what();
    if (text.starts_with(copy.path())) text.replace(0, copy.path().size(), path);
    throw Error(error.code(), text);
  }
}

void check_predictor(const FittedModel& fitted, const std::string& path) {
  if (fitted.schema->predictor().empty()) return;
  fail(ErrorCode::kUnsupported,
       "{}: its predictions come from the program '{}', which a service does not start for every "
       "request (fit with --prediction COL, and let clients send that column)",
       path, fitted.schema->predictor());
}

/// A file may be whole and its model useless; better noticed before it serves.
void check_answers(const ServedModel& model, const std::string& path) {
  const std::string row = typical_row_json(model.schema());
  std::string body;
  for (std::size_t i = 0; i < model.schema().window(); ++i) body += row + "\n";
  try {
    const LevelColumns levels = level_columns({}, {}, {});
    const Table table = parse_ndjson_body(body, model.features(), model.schema().window());
    const RowAnswers answers = predict_rows(model, table, {levels, false, {}, no_deadline()});
    for (const double value : answers.values.values()) {
      if (std::isnan(value)) fail(ErrorCode::kCorruptFile, "{}: answers with NaN", path);
    }
  } catch (const Problem& problem) {
    fail(ErrorCode::kCorruptFile, "{}: does not answer a typical row: {}", path, problem.detail());
  }
}

}  // namespace

ServedModel::ServedModel(FittedModel fitted, std::string version)
    : fitted_(std::move(fitted)),
      version_(std::move(version)),
      features_(*fitted_.schema, Need::kFeatures),
      features_and_target_(*fitted_.schema, Need::kFeaturesAndTarget),
      card_(model_card_json(fitted_, version_)) {}

std::shared_ptr<const ServedModel> ServedModel::load(const std::string& path) {
  const PrivateCopy copy(path);
  FittedModel fitted = load_copy(copy, path);
  check_predictor(fitted, path);
  std::shared_ptr<const ServedModel> model(
      new ServedModel(std::move(fitted), stated_checksum(copy.path())));
  check_answers(*model, path);
  return model;
}

}  // namespace tare::serve
