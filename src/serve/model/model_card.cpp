// SPDX-License-Identifier: BSD-3-Clause
#include "serve/model/model_card.h"

#include <nlohmann/json.hpp>

#include "online/methods/method_table.h"
#include "tare/base/version.h"
#include "tare/calibrate/methods.h"

namespace tare::serve {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// The columns of a description without what a client has no use for.
OrderedJson card_columns(OrderedJson columns) {
  for (OrderedJson& column : columns) {
    OrderedJson shown = OrderedJson::object();
    for (const auto& [name, value] : column.items()) {
      if (!value.is_null() && name != "for_model") shown[name] = value;
    }
    column = std::move(shown);
  }
  return columns;
}

OrderedJson given_columns(const OrderedJson& known) {
  return known["given"].is_null() ? OrderedJson::array() : card_columns(known["given"]["columns"]);
}

struct MethodTexts {
  std::string_view summary;
  std::string_view guarantee;
  std::string_view citation;
};

/// Of the method, or of the online method that goes on with its errors.
MethodTexts texts_of(const Description& model) {
  if (model.online) {
    const OnlineMethodInfo& method = find_online_method(model.online->method);
    return {method.summary, method.guarantee, method.citation};
  }
  const Method& method = find_method(model.method);
  return {method.summary, method.guarantee, method.citation};
}

}  // namespace

std::string model_card_json(const Description& model, const std::string& version,
                            const std::string& online) {
  const OrderedJson known = OrderedJson::parse(description_json(model));
  const MethodTexts method = texts_of(model);
  OrderedJson json = {{"version", version},
                      {"method", model.method},
                      {"summary", method.summary},
                      {"guarantee", method.guarantee},
                      {"citation", method.citation},
                      {"options", known["options"]},
                      {"seed", model.seed},
                      {"rows", model.online ? model.online->rows : model.rows},
                      {"target", model.target},
                      {"window", model.window},
                      {"missing", model.missing},
                      {"inputs", card_columns(known["inputs"])},
                      {"predictions", given_columns(known)}};
  if (!model.group.empty()) json["group"] = known["group"];
  json["guarantee_details"] = known["guarantee"];
  json["warnings"] = known["warnings"];
  if (!online.empty()) json["online"] = OrderedJson::parse(online);
  json["tare_version"] = kVersion;
  return json.dump() + "\n";
}

std::string typical_row_json(const Description& model) {
  const OrderedJson known = OrderedJson::parse(description_json(model));
  OrderedJson row = OrderedJson::object();
  for (const OrderedJson& input : known["inputs"]) {
    row[input["name"].get<std::string>()] =
        input["typical"].is_null() ? OrderedJson("") : input["typical"];
  }
  for (const OrderedJson& column : given_columns(known))
    row[column["name"].get<std::string>()] = column["typical"];
  if (!model.group.empty() && !row.contains(model.group)) {
    row[model.group] = model.group_values.empty() ? "" : model.group_values.front();
  }
  return row.dump();
}

}  // namespace tare::serve
