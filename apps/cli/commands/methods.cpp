// SPDX-License-Identifier: BSD-3-Clause
#include "tare/calibrate/methods.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "support/command.h"
#include "support/terminal.h"
#include "tare/model/regressor.h"

namespace tare::cli {
namespace {

void print_options(std::span<const ParamInfo> options) {
  for (const ParamInfo& option : options) {
    say("      {:<14} {} [{}]{}\n", option.name, option.help, option.fallback,
        option.grid.empty() ? "" : fmt::format(" (tune tries {})", option.grid));
  }
}

void print_text(bool verbose) {
  say("Text in (parentheses) after a method is its source. Text in [brackets] after an option is "
      "its "
      "default.\n\nMethods (--method):\n");
  for (const Method& method : methods()) {
    say("  {:<13} {} ({})\n", method.name, method.summary, method.citation);
    if (!method.defaults.empty()) say("  {:<13} starts from: {}\n", "", method.defaults);
    say("  {:<13} guarantees: {}\n", "", method.guarantee);
    if (verbose) print_options(method.options);
  }
  say("\nOptions of every method:\n");
  print_options(common_options());
  say("\nRegressors (--regressor; their options by --set NAME=VALUE):\n");
  for (const RegressorKind& kind : regressors()) {
    say("  {:<13} {}\n", kind.name, kind.summary);
    print_options(kind.options);
  }
  if (!verbose) say("\n'tare methods -v' shows the methods' options as well.\n");
}

nlohmann::ordered_json options_json(std::span<const ParamInfo> options) {
  auto json = nlohmann::ordered_json::array();
  for (const ParamInfo& option : options) {
    json.push_back({{"name", option.name},
                    {"default", option.fallback},
                    {"help", option.help},
                    {"grid", option.grid}});
  }
  return json;
}

void print_json() {
  nlohmann::ordered_json json;
  for (const Method& method : methods()) {
    json["methods"].push_back({{"name", method.name},
                               {"paper", method.paper},
                               {"summary", method.summary},
                               {"guarantee", method.guarantee},
                               {"citation", method.citation},
                               {"defaults", method.defaults},
                               {"options", options_json(method.options)}});
  }
  json["common_options"] = options_json(common_options());
  for (const RegressorKind& kind : regressors()) {
    json["regressors"].push_back(
        {{"name", kind.name}, {"summary", kind.summary}, {"options", options_json(kind.options)}});
  }
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

void add_methods(CLI::App& app, Common& common) {
  CLI::App* command =
      app.add_subcommand("methods", "List the methods and regressors, and their options");
  command->footer("Example:\n  tare methods -v");
  add_common(*command, common);
  command->callback([&common] {
    if (common.json) {
      print_json();
    } else {
      print_text(common.verbose);
    }
  });
}

}  // namespace tare::cli
