// SPDX-License-Identifier: BSD-3-Clause
// Texts that say what to do, without doing it: experiment plans, configurations, options of
// methods, of fits and of predictions, and lists of levels.
#include <span>
#include <string>
#include <string_view>

#include "apply/level_columns.h"
#include "base/strings.h"
#include "calibrate/automatic/masses/mass_model.h"
#include "calibrate/bands/band_rule.h"
#include "calibrate/bounds/bounds.h"
#include "calibrate/features/feature_map.h"
#include "calibrate/features/screening.h"
#include "calibrate/guarantee/guarantee_split.h"
#include "calibrate/method_config.h"
#include "calibrate/rows/row_split.h"
#include "evaluate/experiment/plan.h"
#include "input.h"
#include "model/nn/stored_network.h"
#include "tare/apply/fit.h"
#include "tare/apply/predictor.h"
#include "tare/base/error.h"
#include "tare/base/level.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/snq.h"
#include "tare/math/kernel.h"

namespace tare::fuzz {
namespace {

/// Calls a function; only an Error may come out of it.
template <class Call>
void attempt(Call&& call) {
  try {
    call();
  } catch (const Error&) {  // refused in words
  }
}

void plan(std::string_view text) {
  ExperimentPlan parsed = parse_plan(text, "plan.json");
  check_plan(parsed);
  require(!parsed.cases.empty() && !parsed.methods.empty(), "a plan has cases and methods");
  attempt([&] { add_tuned(parsed, text, "plan.json"); });
  for (const ExperimentCase& one : parsed.cases) {
    for (const ExperimentMethod& method : parsed.methods) parsed.params_for(one, method);
  }
}

void configuration(std::string_view text) {
  const MethodConfig config = parse_config(text, "config.json");
  require(find_method(config.method).name == config.method, "a configuration has a method");
  ExperimentPlan empty;
  empty.name = config.experiment;
  add_tuned(empty, text, "config.json");
  require(empty.tuned.size() == 1, "a configuration is found by its experiment");
}

/// The common options of methods are parsed where they are used; here all of them, from one list.
void rules(const Params& params) {
  attempt([&] { parse_bounds(params); });
  attempt([&] { parse_masses(params); });
  attempt([&] { parse_guarantee(params); });
  attempt([&] { parse_screen(params); });
  attempt([&] { parse_split(params); });
  attempt([&] { parse_bands(params); });
  for (const auto& [name, value] : params.all()) {
    attempt([&] { params.number(name, 0.5, 0.0, 1.0); });
    attempt([&] { params.count(name, 1, 0, 1'000'000); });
    attempt([&] { parse_kernel(value); });
    attempt([&] { parse_ranks(value); });
    attempt([&] { parse_reducer(value); });
    attempt([&] { parse_scale(value); });
    attempt([&] { nn::parse_units(name, value); });
    attempt([&] { parse_missing_policy(value); });
  }
}

void options_of_methods(std::string_view text) {
  const Params params = Params::parse(text);
  const Params again = Params::parse(params.text());
  require(again.all() == params.all(), "options read back as they are written", params.text());
  rules(params);
  for (const Method& method : methods()) {
    const std::span<const ParamInfo> known[] = {method.options, common_options()};
    attempt([&] { params.check_known(method.name, known); });
  }
}

/// Lines of NAME=VALUE for a fit, as the tool and the C interface take them.
void options_of_a_fit(Input& input) {
  FitOptions options;
  while (!input.text().empty()) {
    const std::string_view line = input.line();
    const std::size_t mark = line.find('=');
    if (mark == std::string_view::npos) continue;
    attempt([&] { options.set(line.substr(0, mark), line.substr(mark + 1)); });
  }
  attempt([&] { choose_method(options); });
  rules(options.params);
}

void options_of_a_prediction(Input& input) {
  PredictOptions options;
  while (!input.text().empty()) {
    const std::string_view line = input.line();
    const std::size_t mark = line.find('=');
    const std::string_view value =
        mark == std::string_view::npos ? std::string_view() : line.substr(mark + 1);
    attempt([&] {
      if (canonical_name(line.substr(0, mark)) == "cost") {
        options.cost = Cost::parse_over_under(value);  // and no file that has such a name
      } else {
        options.set(line.substr(0, mark), value);
      }
    });
  }
  check_predict_options(options);
}

void levels(std::string_view text) {
  for (const double value : parse_level_list(text, "levels")) {
    const Level level(value);
    for (const std::uint64_t count :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{20}, std::uint64_t{1'000'000'007}}) {
      require(level.rank(count) <= count, "a rank is at most the count");
      require(count == 0 || level.rank(count) >= 1, "and at least 1");
      require(count == 0 || level.rank_below(count) < count, "from below it is less");
      require(level.rank_below(count) <= level.rank(count), "and not above the rank");
      require(level.central_rank(count) <= count, "nor is the central one above the count");
    }
  }
}

}  // namespace
}  // namespace tare::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare::fuzz;
  Input input(data, size);
  const std::size_t kind = input.choose(8);
  attempt([&] {
    switch (kind) {
      case 1:
        return configuration(input.text());
      case 2:
        return options_of_methods(input.text());
      case 3:
        return options_of_a_fit(input);
      case 4:
        return options_of_a_prediction(input);
      case 5:
        return levels(input.text());
      default:
        return plan(input.text());
    }
  });
  return 0;
}
