// SPDX-License-Identifier: BSD-3-Clause
#include "data/schema.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/fail.h"
#include "base/strings.h"
#include "io/table_place.h"

namespace tare {
namespace {

// A column with more categories is probably an identifier or a number, not a category.
constexpr std::size_t kMaxCategories = 1000;

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void require_column(const std::string& source, const std::vector<std::string>& header,
                    const std::string& name, std::string_view what) {
  if (contains(header, name)) return;
  const auto near = closest_names(name, header);
  std::string remedy;
  if (!near.empty()) {
    remedy = fmt::format("did you mean {}?", join(near, " or "));
  } else if (header.empty()) {
    remedy = "it has no columns";
  } else if (header.size() <= 20) {
    remedy = fmt::format("it has: {}", join(header, ", "));
  } else {
    remedy = fmt::format("it has {} columns, the first: {}", header.size(), header.front());
  }
  ErrorDetails details = no_column(source, name);
  details.remedies = {advice(std::move(remedy))};
  fail(ErrorCode::kNotFound, std::move(details), "has no column '{}', the {}", name, what);
}

using NameSet = std::unordered_set<std::string_view>;

NameSet set_of(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

/// Roles by name: a file and a list of features may have many thousand names. The roles must live
/// longer.
struct RoleSets {
  explicit RoleSets(const Roles& given_roles)
      : roles(given_roles),
        given_names(given_columns_of(given_roles)),
        given(set_of(given_names)),
        features(set_of(given_roles.features)),
        drop(set_of(given_roles.drop)),
        categorical(set_of(given_roles.categorical)),
        calibrate_on(set_of(given_roles.calibrate_on)) {}

  bool is_model_input(const std::string& name) const {
    return (features.empty() || features.contains(name)) && !drop.contains(name);
  }
  bool is_input(const std::string& name) const {
    if (name == roles.target || name == roles.weight || name == roles.split ||
        given.contains(name)) {
      return false;
    }
    return calibrate_on.contains(name) || is_model_input(name);
  }

  const Roles& roles;
  const std::vector<std::string> given_names;
  const NameSet given, features, drop, categorical, calibrate_on;
};

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<double> values_present(const Column& column) {
  std::vector<double> present;
  for (const double value : column.numbers) {
    if (!std::isnan(value)) present.push_back(value);
  }
  return present;
}

std::optional<ColumnRange> range_of(std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  const auto low = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 100);
  const auto high = values.end() - 1 - static_cast<std::ptrdiff_t>(values.size() / 100);
  std::nth_element(values.begin(), low, values.end());
  const double lowest = *low;
  std::nth_element(low, high, values.end());
  return ColumnRange{lowest, *high};
}

Json range_json(const ColumnRange& range) { return Json::array({range.low, range.high}); }

/// Of a model file; one of an earlier version has none.
std::optional<ColumnRange> range_from_json(const Json& json) {
  if (json.is_null()) return std::nullopt;
  const ColumnRange range{json.at(0).get<double>(), json.at(1).get<double>()};
  if (!(range.low <= range.high)) {
    fail(ErrorCode::kCorruptFile, "the model file has a range from {} to {}", range.low,
         range.high);
  }
  return range;
}

bool is_utf8(const std::string& text) {
  try {
    return !Json(text).dump().empty();
  } catch (const Json::exception&) {
    return false;
  }
}

/// A model file keeps names and categories as JSON, which is UTF-8.
void require_utf8(ErrorDetails place, const std::string& text) {
  if (is_utf8(text)) return;
  place.value = text;
  place.remedies = {advice("convert the file, for example with iconv -f latin1 -t utf-8")};
  fail(ErrorCode::kBadData, std::move(place), "'{}' is not UTF-8 text", text);
}

InputColumn learn_number(const Column& column) {
  InputColumn input;
  input.name = column.name;
  std::vector<double> present = values_present(column);
  if (!present.empty()) input.typical = median(present);
  input.range = range_of(present);
  return input;
}

InputColumn learn_category(const Table& table, const Column& column) {
  InputColumn input;
  input.name = column.name;
  input.categorical = true;
  if (column.vocabulary.size() > kMaxCategories) {
    ErrorDetails details = no_column(table.source, column.name);
    details.remedies = {{"if it is a name or a date, use", "drop", column.name, ""}};
    fail(ErrorCode::kBadData, std::move(details),
         "column '{}' has {} different texts in {} rows; a categorical column may have at most {}",
         column.name, column.vocabulary.size(), table.rows(), kMaxCategories);
  }
  std::vector<std::size_t> count(column.vocabulary.size(), 0);
  for (const std::int32_t code : column.codes) {
    if (code >= 0) ++count[static_cast<std::size_t>(code)];
  }
  for (std::size_t k = 0; k < column.vocabulary.size(); ++k) {
    const auto first =
        std::find(column.codes.begin(), column.codes.end(), static_cast<std::int32_t>(k));
    require_utf8(
        cell_details(table, column.name, static_cast<std::size_t>(first - column.codes.begin())),
        column.vocabulary[k]);
  }
  // Sorted, so that the model does not depend on the order of the rows.
  std::vector<std::size_t> order(column.vocabulary.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return column.vocabulary[a] < column.vocabulary[b];
  });
  std::size_t most = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    input.vocabulary.push_back(column.vocabulary[order[i]]);
    if (count[order[i]] > count[order[most]]) most = i;
  }
  input.typical = static_cast<double>(most);
  return input;
}

}  // namespace

MissingPolicy parse_missing_policy(std::string_view name) {
  const std::string sought = canonical_name(name);
  if (sought == "error") return MissingPolicy::kError;
  if (sought == "drop") return MissingPolicy::kDrop;
  if (sought == "impute") return MissingPolicy::kImpute;
  fail_option("missing", name, "must be error, drop or impute");
}

std::string_view missing_policy_name(MissingPolicy policy) {
  switch (policy) {
    case MissingPolicy::kError:
      return "error";
    case MissingPolicy::kDrop:
      return "drop";
    case MissingPolicy::kImpute:
      return "impute";
  }
  return "?";
}

std::vector<ColumnRequest> Schema::fit_requests(const std::string& source,
                                                const std::vector<std::string>& header,
                                                const Roles& roles) {
  require_column(source, header, roles.target, "target");
  if (!roles.weight.empty()) require_column(source, header, roles.weight, "weight");
  check_given(roles);
  const RoleSets sets(roles);
  const std::vector<std::string>& given = sets.given_names;
  for (const std::string& name : given) require_column(source, header, name, "prediction");
  if (!roles.split.empty()) require_column(source, header, roles.split, "column to split by");
  if (!roles.group.empty()) require_column(source, header, roles.group, "column of groups");
  for (const auto& [names, what] :
       {std::pair(&roles.features, "feature"), std::pair(&roles.drop, "column to drop"),
        std::pair(&roles.categorical, "category"),
        std::pair(&roles.calibrate_on, "column to calibrate on")}) {
    const NameSet there = names->empty() ? NameSet{} : set_of(header);
    for (const std::string& name : *names) {
      if (!there.contains(name)) require_column(source, header, name, what);  // throws
    }
  }
  const auto clash = [&](const std::string& name, std::string_view what) {
    if (!name.empty() && (sets.features.contains(name) || sets.calibrate_on.contains(name))) {
      fail_role(name, fmt::format("is the {} and cannot also be a feature", what));
    }
  };
  clash(roles.target, "target");
  for (const std::string& name : given) clash(name, "prediction");
  clash(roles.weight, "weight");
  clash(roles.split, "column to split by");
  if (roles.target == roles.weight || roles.target == roles.group) {
    fail_role(roles.target, "is the target and cannot have another role");
  }

  std::vector<ColumnRequest> requests;
  for (const std::string& name : header) {
    ColumnKind kind = ColumnKind::kSkip;
    if (name == roles.target || name == roles.weight || sets.given.contains(name)) {
      kind = ColumnKind::kNumber;
    } else if (name == roles.split) {
      kind = ColumnKind::kText;
    } else if (sets.is_input(name)) {
      kind = sets.categorical.contains(name) ? ColumnKind::kText : ColumnKind::kAuto;
    }
    requests.push_back({kind, name == roles.group,
                        kind == ColumnKind::kNumber ? "correct it or remove the row" : ""});
  }
  return requests;
}

Schema Schema::learn(const Table& table, const Roles& roles) {
  Schema schema;
  schema.target_ = roles.target;
  schema.weight_ = roles.weight;
  schema.given_ = given_columns_of(roles);
  schema.form_ = given_form_of(roles);
  for (const std::string& name : schema.given_) {
    const Column* column = table.find(name);
    std::vector<double> present;
    if (column != nullptr) present = values_present(*column);
    schema.given_ranges_.push_back(range_of(present));
  }
  const RoleSets sets(roles);
  for (const Column& column : table.columns) {
    if (column.kind == ColumnKind::kSkip || !sets.is_input(column.name)) continue;
    InputColumn input =
        column.kind == ColumnKind::kText ? learn_category(table, column) : learn_number(column);
    input.for_model = sets.is_model_input(column.name);
    schema.inputs_.push_back(std::move(input));
  }
  const auto check_name = [&](const std::string& name) {
    require_utf8({.source = table.source, .line = 1, .column = name}, name);
  };
  check_name(schema.target_);
  check_name(schema.weight_);
  for (const std::string& name : schema.given_) check_name(name);
  for (const InputColumn& input : schema.inputs_) check_name(input.name);
  return schema;
}

Schema Schema::plain(std::size_t features, const GivenForm& form) {
  Schema schema = plain(features);
  schema.form_ = form;
  if (form.kind == GivenKind::kPoint) schema.given_ = {"prediction"};
  if (form.kind == GivenKind::kMeanSd) schema.given_ = {"prediction", "prediction_sd"};
  for (const double level : form.levels) schema.given_.push_back(fmt::format("q{}", level));
  for (unsigned k = 0; k < form.folds; ++k) schema.given_.push_back(fmt::format("prediction{}", k));
  schema.given_ranges_.resize(schema.given_.size());
  return schema;
}

Schema Schema::plain(std::size_t features) {
  Schema schema;
  schema.target_ = std::string("y");
  for (std::size_t j = 0; j < features; ++j) {
    InputColumn input;
    input.name = fmt::format("x{}", j);
    schema.inputs_.push_back(std::move(input));
  }
  return schema;
}

std::vector<ColumnRequest> Schema::requests(const std::string& source,
                                            const std::vector<std::string>& header,
                                            Need need) const {
  std::vector<ColumnRequest> requests(header.size(), {ColumnKind::kSkip, false, ""});
  std::unordered_map<std::string_view, std::size_t> columns;  // a header may have thousands
  for (std::size_t j = 0; j < header.size(); ++j) columns.emplace(header[j], j);
  const auto column_of = [&](const std::string& name, std::string_view what) {
    const auto found = columns.find(name);
    if (found == columns.end()) require_column(source, header, name, what);  // throws
    return found->second;
  };
  const auto ask_number = [&](const std::string& name, std::string_view what,
                              std::string_view remedy) {
    if (!name.empty()) requests[column_of(name, what)] = {ColumnKind::kNumber, false, remedy};
  };
  constexpr std::string_view kFeature = "model's feature";
  for (const InputColumn& input : inputs_) {
    if (!input.categorical) {
      ask_number(input.name, kFeature,
                 "it is the model's feature, a number; correct it or remove the row");
    } else if (!input.name.empty()) {
      requests[column_of(input.name, kFeature)] = {ColumnKind::kText, false, ""};
    }
  }
  for (const std::string& name : given_) {
    ask_number(name, "prediction the model was fitted with",
               "it is the prediction the model was fitted with, a number; correct it or remove the "
               "row");
  }
  if (need == Need::kFeaturesAndTarget) {
    ask_number(target_, "model's target",
               "it is the model's target, a number; correct it or remove the row");
  }
  if (!group_.empty()) {
    requests[column_of(group_.name(), "column of groups of the model's guarantee")].raw = true;
  }
  return requests;
}

std::size_t Schema::width() const {
  std::size_t width = 0;
  for (const InputColumn& input : inputs_) width += input.width();
  return width;
}

std::vector<std::string> Schema::feature_names() const {
  std::vector<std::string> names;
  for (const InputColumn& input : inputs_) {
    if (!input.categorical) names.push_back(input.name);
    for (const std::string& category : input.vocabulary)
      names.push_back(input.name + "=" + category);
  }
  return names;
}

std::vector<std::string> Schema::model_inputs() const {
  std::vector<std::string> names;
  for (const InputColumn& input : inputs_) {
    if (input.for_model) names.push_back(input.name);
  }
  return names;
}

std::vector<std::size_t> Schema::model_columns() const {
  std::vector<std::size_t> columns;
  std::size_t next = 0;
  for (const InputColumn& input : inputs_) {
    for (std::size_t j = 0; j < input.width(); ++j) {
      if (input.for_model) columns.push_back(next + j);
    }
    next += input.width();
  }
  return columns;
}

std::vector<std::size_t> Schema::columns_of(const std::vector<std::string>& names) const {
  std::vector<std::size_t> columns;
  const NameSet wanted = set_of(names);
  std::size_t next = 0;
  for (const InputColumn& input : inputs_) {
    for (std::size_t j = 0; j < input.width(); ++j) {
      if (wanted.contains(input.name)) columns.push_back(next + j);
    }
    next += input.width();
  }
  return columns;
}

Json Schema::to_json() const {
  const bool has_quantiles = form_.kind == GivenKind::kQuantiles;
  Json json = {
      {"target", target_},
      {"weight", weight_},
      {"prediction", has_quantiles || form_.folds > 0 || given_.empty() ? "" : given_.front()},
      {"predictor", predictor_},
      {"missing", missing_policy_name(missing_)},
      {"window", window_}};
  if (form_.kind == GivenKind::kMeanSd) json["prediction_sd"] = given_.back();
  for (std::size_t j = 0; has_quantiles && j < given_.size(); ++j)
    json["prediction_quantiles"].push_back({{"name", given_[j]}, {"level", form_.levels[j]}});
  if (form_.folds > 0) json["prediction_folds"] = given_;
  if (!group_.empty()) json["group"] = group_.to_json();
  json["inputs"] = Json::array();
  for (const InputColumn& input : inputs_) {
    json["inputs"].push_back({{"name", input.name},
                              {"categorical", input.categorical},
                              {"vocabulary", input.vocabulary},
                              {"typical", input.typical},
                              {"for_model", input.for_model}});
    if (input.range) json["inputs"].back()["range"] = range_json(*input.range);
  }
  // One for each column, where any has one: a column without a value in the rows of the fit has
  // none.
  const bool any_range =
      std::ranges::any_of(given_ranges_, [](const auto& r) { return r.has_value(); });
  for (std::size_t j = 0; any_range && j < given_ranges_.size(); ++j) {
    const auto& range = given_ranges_[j];
    json["prediction_ranges"].push_back(range ? range_json(*range) : Json());
  }
  return json;
}

/// Two roles of one column could ask for its cells as numbers and as text. A long name of a column
/// with many categories is part of many names of features: without a limit they would take memory
/// as the square of the file's size.
void Schema::check_names() const {
  constexpr std::size_t kMostNameBytes = std::size_t{64} << 20;
  std::unordered_set<std::string_view> names(given_.begin(), given_.end());
  bool distinct = names.size() == given_.size() && names.insert(target_).second;
  std::size_t bytes = 0;
  for (const InputColumn& input : inputs_) {
    distinct = distinct && names.insert(input.name).second && input.name != weight_;
    bytes += input.vocabulary.size() * input.name.size();
    if (!distinct || bytes > kMostNameBytes) {
      fail(ErrorCode::kCorruptFile, "the model file's column '{}' {}", input.name.substr(0, 60),
           distinct ? "has too long a name for its categories" : "has two roles");
    }
  }
  if (!distinct) fail(ErrorCode::kCorruptFile, "a column of the model file has two roles");
}

Schema Schema::from_json(const Json& json) {
  try {
    Schema schema;
    schema.target_ = json.at("target").get<std::string>();
    schema.weight_ = json.at("weight").get<std::string>();
    Roles roles;
    roles.prediction = json.at("prediction").get<std::string>();
    roles.prediction_sd = json.value("prediction_sd", "");
    for (const Json& item : json.value("prediction_quantiles", Json::array()))
      roles.prediction_quantiles.push_back(
          {item.at("name").get<std::string>(), item.at("level").get<double>()});
    roles.prediction_folds = json.value("prediction_folds", std::vector<std::string>{});
    schema.given_ = given_columns_of(roles);
    schema.form_ = given_form_of(roles);
    if (!schema.given_.empty() && schema.given_.size() != schema.form_.columns()) {
      fail(ErrorCode::kCorruptFile, "the model file's prediction columns contradict each other");
    }
    schema.given_ranges_.resize(schema.given_.size());
    const Json ranges = json.value("prediction_ranges", Json::array());
    for (std::size_t j = 0; ranges.size() == schema.given_.size() && j < ranges.size(); ++j) {
      schema.given_ranges_[j] = range_from_json(ranges[j]);
    }
    schema.predictor_ = json.at("predictor").get<std::string>();
    schema.missing_ = parse_missing_policy(json.at("missing").get<std::string>());
    const Json& window = json.at("window");
    if (!window.is_number_unsigned() || window.get<std::uint64_t>() < 1 ||
        window.get<std::uint64_t>() > kMaxWindow) {
      fail(ErrorCode::kCorruptFile, "the model file's window is not in 1 to {}", kMaxWindow);
    }
    schema.window_ = window.get<std::size_t>();
    if (json.contains("group")) schema.group_ = GroupColumn::from_json(json.at("group"));
    for (const Json& item : json.at("inputs")) {
      InputColumn input;
      input.name = item.at("name").get<std::string>();
      input.categorical = item.at("categorical").get<bool>();
      input.vocabulary = item.at("vocabulary").get<std::vector<std::string>>();
      input.typical = item.at("typical").get<double>();
      input.for_model = item.at("for_model").get<bool>();
      if (!input.categorical) input.range = range_from_json(item.value("range", Json()));
      const auto categories = static_cast<double>(input.vocabulary.size());
      const bool in_order = std::ranges::adjacent_find(input.vocabulary, std::greater_equal<>{}) ==
                            input.vocabulary.end();
      const bool sound = input.categorical
                             ? in_order && input.typical >= 0.0 && input.typical <= categories
                             : input.vocabulary.empty();
      if (!sound) {
        fail(ErrorCode::kCorruptFile, "the model file's column '{}' contradicts itself",
             input.name);
      }
      schema.inputs_.push_back(std::move(input));
    }
    schema.check_names();
    return schema;
  } catch (const Json::exception& error) {
    fail(ErrorCode::kCorruptFile, "the model file's schema cannot be read: {}", error.what());
  }
}

}  // namespace tare
