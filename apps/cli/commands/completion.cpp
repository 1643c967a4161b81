// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/fail.h"
#include "support/command.h"

namespace tare::cli {
namespace {

/// The words that may follow a command, generated from the options of the tool.
std::string words_of(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  return words;
}

std::string bash_script(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands += command->get_name() + " ";
    cases += fmt::format("    {}) words='{}' ;;\n", command->get_name(), words_of(*command));
  }
  return fmt::format(
      "# bash completion for tare: source it, or put it where bash looks for completions\n"
      "_tare() {{\n"
      "  local word=\"${{COMP_WORDS[COMP_CWORD]}}\" words='{}'\n"
      "  if [ \"$COMP_CWORD\" -gt 1 ]; then case \"${{COMP_WORDS[1]}}\" in\n{}"
      "  esac; fi\n"
      "  if [ \"$COMP_CWORD\" -gt 1 ] && [[ \"$word\" != -* ]]; then\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _tare tare\n",
      commands, cases);
}

}  // namespace

void add_completion(CLI::App& app, Common&) {
  auto shell = std::make_shared<std::string>("bash");
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for a shell");
  command->footer(
      "Examples:\n"
      "  source <(tare completion bash)\n"
      "  tare completion zsh > ~/.tare-completion.zsh");
  command->add_option("shell", *shell, "bash or zsh")->capture_default_str();
  command->callback([shell, &app] {
    if (*shell != "bash" && *shell != "zsh") {
      fail(ErrorCode::kInvalidArgument, "completion supports bash and zsh, not '{}'", *shell);
    }
    if (*shell == "zsh") fmt::print("autoload -U +X bashcompinit && bashcompinit\n");
    fmt::print("{}", bash_script(app));
  });
}

}  // namespace tare::cli
