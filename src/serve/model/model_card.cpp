// SPDX-License-Identifier: BSD-3-Clause
#include "serve/model/model_card.h"

#include <nlohmann/json.hpp>

#include "data/schema.h"
#include "serve/model/served_model.h"
#include "tare/base/version.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/warnings.h"

namespace tare::serve {
namespace {

using OrderedJson = nlohmann::ordered_json;

void add_range(OrderedJson& json, const std::optional<ColumnRange>& range) {
  if (!range) return;
  json["low"] = range->low;
  json["high"] = range->high;
}

OrderedJson input_json(const InputColumn& input) {
  OrderedJson json = {{"name", input.name}, {"kind", input.categorical ? "category" : "number"}};
  if (!input.categorical) {
    json["typical"] = input.typical;
    add_range(json, input.range);
    return json;
  }
  const auto place = static_cast<std::size_t>(input.typical);
  if (place < input.vocabulary.size()) json["typical"] = input.vocabulary[place];
  json["categories"] = input.vocabulary;
  return json;
}

/// A value for a column that an outside model fills. A standard deviation is above 0.
double typical_given(const Schema& schema, std::size_t column) {
  const std::optional<ColumnRange>& range = schema.given_ranges()[column];
  if (range) return 0.5 * (range->low + range->high);
  return schema.given_form().kind == GivenKind::kMeanSd && column == 1 ? 1.0 : 0.0;
}

OrderedJson given_json(const Schema& schema) {
  OrderedJson list = OrderedJson::array();
  for (std::size_t j = 0; j < schema.given_columns().size(); ++j) {
    OrderedJson json = {{"name", schema.given_columns()[j]}, {"typical", typical_given(schema, j)}};
    add_range(json, schema.given_ranges()[j]);
    if (schema.given_form().kind == GivenKind::kQuantiles) {
      json["level"] = schema.given_form().levels[j];
    }
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

std::string model_card_json(const FittedModel& fitted, const std::string& version) {
  const Schema& schema = *fitted.schema;
  const Method& method = find_method(fitted.method);
  OrderedJson json = {{"version", version},
                      {"method", fitted.method},
                      {"summary", method.summary},
                      {"guarantee", method.guarantee},
                      {"citation", method.citation},
                      {"options", fitted.params.all()},
                      {"seed", fitted.seed.value},
                      {"rows", fitted.rows},
                      {"target", schema.target()},
                      {"window", schema.window()},
                      {"missing", missing_policy_name(schema.missing())}};
  json["inputs"] = OrderedJson::array();
  for (const InputColumn& input : schema.inputs()) json["inputs"].push_back(input_json(input));
  json["predictions"] = given_json(schema);
  if (!schema.group().empty()) {
    json["group"] = {{"name", schema.group().name()}, {"values", schema.group().values()}};
  }
  json["warnings"] = OrderedJson::array();
  for (const PredictionWarning& warning : model_warnings(*fitted.model)) {
    json["warnings"].push_back(
        {{"code", warning_name(warning.code)}, {"rows", warning.rows}, {"text", warning.text}});
  }
  json["tare_version"] = kVersion;
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string typical_row_json(const Schema& schema) {
  OrderedJson row = OrderedJson::object();
  for (const InputColumn& input : schema.inputs()) {
    const OrderedJson json = input_json(input);
    row[input.name] = json.contains("typical") ? json["typical"] : OrderedJson("");
  }
  for (std::size_t j = 0; j < schema.given_columns().size(); ++j) {
    row[schema.given_columns()[j]] = typical_given(schema, j);
  }
  const GroupColumn& group = schema.group();
  if (!group.empty() && !row.contains(group.name())) {
    row[group.name()] = group.values().empty() ? "" : group.values().front();
  }
  return row.dump();
}

}  // namespace tare::serve
