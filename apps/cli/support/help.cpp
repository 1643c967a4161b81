// SPDX-License-Identifier: BSD-3-Clause
#include "support/help.h"

#include <algorithm>
#include <array>

namespace tare::cli {
namespace {

constexpr std::array kInOrder = {"Options", kMostUsed, kYourModel, kColumns, kRows,
                                 kAnswers,  kKernel,   kOutput,    kGeneral};

/// Breaks between words so that no line is longer than `width`, where words allow it.
std::string wrapped(const std::string& text, std::size_t width) {
  std::string out;
  std::size_t start = 0;
  while (text.size() - start > width) {
    std::size_t end = text.rfind(' ', start + width);
    if (end == std::string::npos || end <= start) end = text.find(' ', start);
    if (end == std::string::npos) break;
    out += text.substr(start, end - start) + "\n";
    start = end + 1;
  }
  return out + text.substr(start);
}

}  // namespace

std::string GroupedHelp::make_help(const CLI::App* app, std::string name,
                                   CLI::AppFormatMode mode) const {
  if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
  std::string out =
      make_description(app) + make_usage(app, std::move(name)) + make_positionals(app);
  for (const char* group : kInOrder) {
    const auto in_group = [&](const CLI::Option* option) {
      return option->get_group() == group && option->nonpositional();
    };
    const std::vector<const CLI::Option*> options = app->get_options(in_group);
    if (!options.empty()) out += make_group(group, false, options);
  }
  return out + make_subcommands(app, mode) + "\n" + make_footer(app);
}

std::string GroupedHelp::make_option_desc(const CLI::Option* option) const {
  constexpr std::size_t kTerminal = 100;
  return wrapped(option->get_description(), kTerminal - get_column_width());
}

void put_in_group(CLI::App& command, const char* group,
                  std::initializer_list<const char*> options) {
  for (const char* name : options) {
    if (CLI::Option* option = find_option(command, name)) option->group(group);
  }
}

CLI::Option* find_option(CLI::App& command, const std::string& name) {
  for (CLI::Option* option : command.get_options()) {
    if (option->check_name(name)) return option;
  }
  return nullptr;
}

}  // namespace tare::cli
