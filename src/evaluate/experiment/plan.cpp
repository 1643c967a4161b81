// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/plan.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>
#include <utility>

#include "base/fail.h"
#include "base/unknown_name.h"
#include "calibrate/method_config.h"
#include "data/schema.h"
#include "evaluate/experiment/embedded.h"
#include "io/json_text.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<std::string_view, TestRows>, 6> kTests = {{
    {"random", TestRows::kRandom},
    {"last", TestRows::kLast},
    {"file", TestRows::kFile},
    {"column", TestRows::kColumn},
    {"resampled", TestRows::kResampled},
    {"law", TestRows::kLaw},
}};

TestRows parse_test(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, test] : kTests) {
    if (known == name) return test;
    names.emplace_back(known);
  }
  fail_unknown_name(ErrorCode::kInvalidArgument, "kind of test rows", name, names);
}

/// Reads the fields of a JSON object; an unknown field is an error.
class Fields {
 public:
  explicit Fields(const Json& json) : json_(json) {
    if (!json.is_object()) fail(ErrorCode::kInvalidArgument, "expected an object, got {}", text());
  }

  template <class T>
  T get(const char* name, T fallback) {
    asked_.insert(name);
    const auto found = json_.find(name);
    if (found == json_.end()) return fallback;
    // The JSON library would cast -1 and 1e300 to a count.
    if (std::is_unsigned_v<T> && !found->is_number_unsigned()) fail_type(name, *found);
    try {
      return found->get<T>();
    } catch (const Json::exception&) {
      fail_type(name, *found);
    }
  }
  template <class T>
  T need(const char* name) {
    if (!json_.contains(name)) {
      fail(ErrorCode::kInvalidArgument, "field '{}' is missing in {}", name, text());
    }
    return get<T>(name, {});
  }
  const Json& list(const char* name) {
    asked_.insert(name);
    const auto found = json_.find(name);
    if (found == json_.end() || !found->is_array() || found->empty()) {
      fail(ErrorCode::kInvalidArgument, "field '{}' must be a non-empty list", name);
    }
    return *found;
  }
  void check_all_known() const {
    for (const auto& [name, value] : json_.items()) {
      if (!asked_.contains(name)) {
        fail_unknown_name(ErrorCode::kInvalidArgument, "field", name,
                          std::vector<std::string>(asked_.begin(), asked_.end()));
      }
    }
  }

 private:
  [[noreturn]] static void fail_type(const char* name, const Json& json) {
    fail(ErrorCode::kInvalidArgument, "field '{}' has the wrong type: {}", name, json.dump());
  }
  std::string text() const { return json_.dump().substr(0, 80); }

  const Json& json_;
  std::set<std::string, std::less<>> asked_;
};

/// A whole number of rows; JSON would turn -5 and 1e30 into something else.
std::size_t parse_rows(Fields& fields, const char* name) {
  const double rows = fields.need<double>(name);
  if (!(rows >= 1.0 && rows <= 1e9 && rows == std::floor(rows))) {
    fail(ErrorCode::kInvalidArgument, "{} is a whole number from 1 to 1e9, got {}", name, rows);
  }
  return static_cast<std::size_t>(rows);
}

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20; });
}

ExperimentCase parse_case(const Json& json) {
  Fields fields(json);
  ExperimentCase one;
  one.name = fields.need<std::string>("name");
  one.test = parse_test(fields.get<std::string>("test", "random"));
  one.features = fields.get<std::vector<std::string>>("features", {});
  one.drop = fields.get<std::vector<std::string>>("drop", {});
  one.categorical = fields.get<std::vector<std::string>>("categorical", {});
  one.missing = fields.get<std::string>("missing", "error");
  parse_missing_policy(one.missing);
  one.origin = fields.get<std::string>("origin", "");
  if (one.test == TestRows::kLaw) {
    one.problem = fields.need<std::string>("problem");
    find_problem(one.problem);
    one.rows = parse_rows(fields, "rows");
    one.test_rows = parse_rows(fields, "test_rows");
  } else {
    one.file = fields.need<std::string>("file");
    one.target = fields.need<std::string>("target");
  }
  if (one.test == TestRows::kFile) one.test_file = fields.need<std::string>("test_file");
  if (one.test == TestRows::kResampled) one.test_rows = parse_rows(fields, "test_rows");
  if (one.test == TestRows::kColumn) {
    one.column = fields.need<std::string>("column");
    one.train_value = fields.need<std::string>("train_value");
    one.test_value = fields.need<std::string>("test_value");
  }
  fields.check_all_known();
  return one;
}

/// "hnn", or "nrc_rp dims=30".
ExperimentMethod parse_method(const Json& json) {
  if (!json.is_string()) fail(ErrorCode::kInvalidArgument, "a method is a text: {}", json.dump());
  const std::string text = json.get<std::string>();
  const std::size_t space = text.find(' ');
  ExperimentMethod one;
  one.method = find_method(text.substr(0, space)).name;
  if (space != std::string::npos) one.params = Params::parse(text.substr(space + 1));
  return one;
}

double parse_share(Fields& fields, const char* name, double fallback) {
  const double share = fields.get(name, fallback);
  if (!(share > 0.0 && share < 1.0)) {
    fail(ErrorCode::kInvalidArgument, "{} is a share between 0 and 1, got {}", name, share);
  }
  return share;
}

void check_figure(const ExperimentPlan& plan) {
  if (plan.figure.empty()) return;
  const ExperimentCase& one = plan.cases.front();
  const bool line = one.test == TestRows::kLaw && find_problem(one.problem).dims == 1;
  if (!line && one.test != TestRows::kLast) {
    fail(ErrorCode::kInvalidArgument,
         "a figure needs a first case that is a known-law problem with one feature, or a series; "
         "'{}' is neither",
         one.name);
  }
}

ExperimentPlan plan_of(const Json& json) {
  Fields fields(json);
  ExperimentPlan plan;
  plan.name = fields.need<std::string>("name");
  plan.title = fields.get<std::string>("title", plan.name);
  plan.paper = fields.get<std::string>("paper", "");
  if (json.contains("repeats")) plan.repeats = parse_rows(fields, "repeats");
  plan.seed = Seed{fields.get<std::uint64_t>("seed", 1)};
  plan.test_share = parse_share(fields, "test_share", 0.1);
  plan.calibrate_share = parse_share(fields, "calibrate_share", 0.3);
  for (const Json& one : fields.list("cases")) plan.cases.push_back(parse_case(one));
  plan.figure = fields.get<std::string>("figure", "");
  check_figure(plan);
  for (const Json& one : fields.list("methods")) plan.methods.push_back(parse_method(one));
  fields.check_all_known();
  check_plan(plan);
  return plan;
}

}  // namespace

ExperimentPlan parse_plan(std::string_view json, std::string_view source) {
  if (is_nested_too_deeply(json)) {
    fail(ErrorCode::kInvalidArgument, {.source = std::string(source)},
         "has more than {} brackets within brackets", kMostJsonDepth);
  }
  try {
    return plan_of(Json::parse(json));
  } catch (const Json::exception& error) {  // also of a number that no double can hold
    fail(ErrorCode::kInvalidArgument, {.source = std::string(source)}, "is not JSON: {}",
         error.what());
  } catch (const Error& error) {
    // A plan writes its options as name=value, as these words do.
    fail(ErrorCode::kInvalidArgument, {.source = std::string(source)}, "{}", error.what());
  }
}

void check_plan(const ExperimentPlan& plan) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  if (plan.name.empty() || !std::ranges::all_of(plan.name, plain)) {
    fail(ErrorCode::kInvalidArgument,
         "an experiment's name is used as a file name: letters, digits, _ and - only, got '{}'",
         plan.name);
  }
  if (plan.repeats == 0) fail(ErrorCode::kInvalidArgument, "at least one repeat is needed");
  if (plan.methods.empty()) fail(ErrorCode::kInvalidArgument, "at least one method is needed");
  std::set<std::string> seen;
  for (const ExperimentCase& one : plan.cases) {
    if (has_control_character(one.name)) {
      fail(ErrorCode::kInvalidArgument,
           "a case's name contains a line break or another control character");
    }
    if (!seen.insert(one.name).second) {
      fail(ErrorCode::kInvalidArgument, "two cases have the name '{}'", one.name);
    }
  }
  seen.clear();
  for (const ExperimentMethod& method : plan.methods) {
    if (!seen.insert(method.method + " " + method.params.text()).second) {
      fail(ErrorCode::kInvalidArgument, "method '{}' occurs twice with the same options",
           method.method);
    }
    if (has_control_character(method.params.text())) {
      fail(ErrorCode::kInvalidArgument,
           "an option contains a line break or another control character");
    }
  }
}

Params ExperimentPlan::params_for(const ExperimentCase& one, const ExperimentMethod& method) const {
  Params params;
  const auto found = tuned.find({one.name, method.method});
  if (found != tuned.end()) params = found->second;
  params.merge(method.params);
  return params;
}

void add_tuned(ExperimentPlan& plan, std::string_view json, std::string_view source) {
  const MethodConfig config = parse_config(json, source);
  if (config.experiment == plan.name) {
    plan.tuned[{config.data, config.method}] = config.params;
  }
}

std::vector<std::string> built_in_plan_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_plans()) names.emplace_back(file.name);
  return names;
}

ExperimentPlan built_in_plan(std::string_view name) {
  for (const EmbeddedFile& file : embedded_plans()) {
    if (file.name != name) continue;
    ExperimentPlan plan = parse_plan(file.text, std::string(name) + ".json");
    for (const EmbeddedFile& config : embedded_tuned()) add_tuned(plan, config.text, config.name);
    return plan;
  }
  fail_unknown_name(ErrorCode::kNotFound, "experiment", name, built_in_plan_names());
}

}  // namespace tare
