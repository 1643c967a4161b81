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
double typical_given(const GivenForm& form, const std::optional<ColumnRange>& range,
                     std::size_t column) {
  if (range) return 0.5 * (range->low + range->high);
  return form.kind == GivenKind::kMeanSd && column == 1 ? 1.0 : 0.0;
}

OrderedJson given_json(const Description& model) {
  OrderedJson list = OrderedJson::array();
  for (std::size_t j = 0; j < model.given.size(); ++j) {
    const GivenColumn& column = model.given[j];
    OrderedJson json = {{"name", column.name},
                        {"typical", typical_given(model.given_form, column.range, j)}};
    add_range(json, column.range);
    if (model.given_form.kind == GivenKind::kQuantiles) {
      json["level"] = model.given_form.levels[j];
    }
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

std::string model_card_json(const Description& model, const std::string& version) {
  const Method& method = find_method(model.method);
  OrderedJson json = {{"version", version},          {"method", model.method},
                      {"summary", method.summary},   {"guarantee", method.guarantee},
                      {"citation", method.citation}, {"options", OrderedJson::object()},
                      {"seed", model.seed},          {"rows", model.rows},
                      {"target", model.target},      {"window", model.window},
                      {"missing", model.missing}};
  for (const auto& [name, value] : model.options) json["options"][name] = value;
  json["inputs"] = OrderedJson::array();
  for (const InputColumn& input : model.inputs) json["inputs"].push_back(input_json(input));
  json["predictions"] = given_json(model);
  if (!model.group.empty()) {
    json["group"] = {{"name", model.group}, {"values", model.group_values}};
  }
  json["guarantee_details"] = OrderedJson::parse(guarantee_description_json(model));
  json["warnings"] = OrderedJson::array();
  for (const PredictionWarning& warning : model.warnings) {
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
    row[schema.given_columns()[j]] =
        typical_given(schema.given_form(), schema.given_ranges()[j], j);
  }
  const GroupColumn& group = schema.group();
  if (!group.empty() && !row.contains(group.name())) {
    row[group.name()] = group.values().empty() ? "" : group.values().front();
  }
  return row.dump();
}

}  // namespace tare::serve
