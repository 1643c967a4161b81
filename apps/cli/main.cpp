// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "base/vector_limit.h"
#include "io/files/subprocess.h"
#include "support/bar.h"
#include "support/command.h"
#include "support/help.h"
#include "support/terminal.h"
#include "tare/base/error.h"
#include "tare/base/version.h"

namespace tare::cli {
namespace {

constexpr int kDone = 0;
constexpr int kOther = 1;
constexpr int kUsage = 2;
constexpr int kCheck = 6;

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return kUsage;
    case ErrorCode::kNotFound:
      return 3;
    case ErrorCode::kShapeMismatch:
    case ErrorCode::kBadData:
    case ErrorCode::kCorruptFile:
      return 4;
    case ErrorCode::kUnsupported:
      return 5;
    case ErrorCode::kIo:
      return kOther;
  }
  return kOther;
}

int complain(int code, std::string_view text) {
  tell("error: ", text);
  return code;
}

extern "C" void end_by_signal(int number) {
  kill_running_filters();
  std::signal(number, SIG_DFL);
  std::raise(number);  // strikes when the handler returns
}

/// A predictor is in its own process group, which a terminal's signals do not reach.
void handle_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    // nohup and shells in the background let signals be ignored, and that must stay.
    if (std::signal(number, end_by_signal) == SIG_IGN) std::signal(number, SIG_IGN);
  }
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

/// "did you mean fit?", or the list of commands.
std::string known_commands(const std::vector<std::string>& names, std::string_view wrong) {
  const auto near = closest_names(wrong, names);
  if (!near.empty()) return fmt::format("did you mean {}?", join(near, " or "));
  return fmt::format("commands: {}; see 'tare --help'", join(names, ", "));
}

/// The parser's error, and the arguments that it did not understand: a misspelt option is often the
/// reason why another option is missing.
std::string usage_error(const CLI::App& app, const CLI::ParseError& wrong) {
  std::string text = wrong.what();
  if (wrong.get_name() == "RequiredError") {
    const auto unknown = app.remaining(/*recurse=*/true);
    if (!unknown.empty()) text += fmt::format(", and '{}' was not understood", unknown.front());
  }
  const auto chosen = app.get_subcommands();
  return fmt::format("{} (see 'tare {}--help')", text,
                     chosen.empty() ? "" : chosen.front()->get_name() + " ");
}

/// Printed text may still be in the buffer, so a full disk may be detected only here.
int finish_output(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return complain(kOther,
                  fmt::format("standard output: cannot be written: {}", std::strerror(errno)));
}

/// Takes no memory.
int out_of_memory() noexcept {
  write_error("error: out of memory\n");
  return kOther;
}

std::terminate_handler usual_terminate = std::abort;

/// The destructor of a JSON value allocates, and a destructor that throws ends the program. For
/// lack of memory this is an error like any other.
[[noreturn]] void on_terminate() noexcept {
  try {
    if (const auto failure = std::current_exception()) std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    std::_Exit(out_of_memory());
  } catch (...) {
  }
  usual_terminate();
  std::abort();
}

/// "--keep=" becomes "--keep" and "": the parser would take the next word for the value.
void split_empty_values(CLI::App& command, std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].ends_with('=')) continue;
    const std::string name = words[i].substr(0, words[i].size() - 1);
    const CLI::Option* option = find_option(command, name);
    if (option == nullptr || option->get_items_expected_max() == 0) continue;
    words[i] = name;
    words.emplace(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

int run(int argc, char** argv) {
  Common common;
  CLI::App app(
      "Individually calibrated quantiles and prediction intervals on top of any regression "
      "model.\n\n"
      "  tare fit cars.csv --target mpg -o cars.tare\n"
      "  tare predict cars.tare new.csv --levels 0.05,0.5,0.95 > quantiles.csv\n"
      "  tare evaluate cars.tare test.csv\n\n"
      "'tare COMMAND --help' explains a command and shows an example.",
      "tare");
  app.formatter(std::make_shared<GroupedHelp>());
  app.set_version_flag("--version", "tare " + std::string(kVersion));
  app.require_subcommand(1);
  add_commands(app, common);
  const std::vector<std::string> names = command_names(app);
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first.empty())
    return complain(kUsage, fmt::format("a command is missing ({})", known_commands(names, "")));
  if (first.front() != '-' && std::find(names.begin(), names.end(), first) == names.end()) {
    return complain(
        kUsage, fmt::format("there is no command '{}' ({})", first, known_commands(names, first)));
  }
  try {
    if (const char* widest = std::getenv("TARE_VECTOR_TARGETS")) limit_vectors(widest);
    std::vector<std::string> words(argv + 1, argv + argc);
    if (first.front() != '-') split_empty_values(*app.get_subcommand(std::string(first)), words);
    std::reverse(words.begin(), words.end());
    app.parse(std::move(words));  // runs the command's callback
    if (const std::string problem = take_device_problem(); !problem.empty()) {
      warn(common, fmt::format("--device: {}; the processor did the work", problem));
    }
  } catch (const CLI::Success& asked) {
    return app.exit(asked);  // --help, --version
  } catch (const CLI::ParseError& wrong) {
    return complain(kUsage, usage_error(app, wrong));
  } catch (const CheckFailed& failed) {
    tell("check failed: ", failed.text);
    return kCheck;
  } catch (const Error& error) {
    return complain(exit_code(error.code()), error_words(error));
  } catch (const std::bad_alloc&) {
    return complain(kOther, "out of memory");
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return kOther;  // finish_output() reports it
    return complain(kOther, error.what());
  }
  return kDone;
}

/// Whether a command has this flag, "--missing".
bool is_flag(const std::string& flag) {
  Common common;
  CLI::App app;
  add_commands(app, common);
  const auto commands = app.get_subcommands([](CLI::App*) { return true; });
  return std::any_of(commands.begin(), commands.end(),
                     [&](CLI::App* command) { return find_option(*command, flag) != nullptr; });
}

/// Only options of the NRC family are flags; other methods' options go through --set.
std::string flag_text(std::string_view option, std::string_view value) {
  std::string flag = "--" + std::string(option);
  std::replace(flag.begin(), flag.end(), '_', '-');
  if (is_flag(flag)) return value.empty() ? flag : fmt::format("{} {}", flag, value);
  return value.empty() ? fmt::format("--set {}", option)
                       : fmt::format("--set {}={}", option, value);
}

/// An empty value, as of a shell variable that is not set, must not count as an option not given.
void refuse_empty_values(CLI::App& app) {
  constexpr std::string_view kMayBeEmpty = "--plot";  // of demo: no figure
  const CLI::Validator filled(
      [](std::string& text) {
        return text.empty() ? std::string("the value is empty; give one, or leave the option out")
                            : std::string();
      },
      "");
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    const auto takes_value = [&](const CLI::Option* option) {
      return !option->get_positional() && option->get_items_expected_max() > 0 &&
             option->get_name() != kMayBeEmpty;
    };
    for (CLI::Option* option : command->get_options(takes_value)) option->check(filled);
  }
}

}  // namespace

void add_commands(CLI::App& app, Common& common) {
  add_fit(app, common);
  add_predict(app, common);
  add_track(app, common);
  add_update(app, common);
  add_evaluate(app, common);
  add_control_risk(app, common);
  add_report(app, common);
  add_inspect(app, common);
  add_methods(app, common);
  add_demo(app, common);
  add_compare(app, common);
  add_tune(app, common);
  add_reproduce(app, common);
  add_serve(app, common);
  add_completion(app, common);
  refuse_empty_values(app);
}

std::string error_words(const Error& error) { return error_text(error, {flag_text}); }

CLI::Validator whole_number() {
  return CLI::Validator(
      [](std::string& text) {
        return parse_count(text) ? std::string()
                                 : fmt::format("must be a whole number, 0 or more, got '{}'", text);
      },
      "");
}

CLI::Validator seconds() {
  return CLI::Validator(
      [](std::string& text) {
        const auto value = parse_number(text);
        return value && *value > 0.0
                   ? std::string()
                   : fmt::format("must be a number of seconds above 0, got '{}'", text);
      },
      "");
}

void add_common(CLI::App& command, Common& common) {
  command
      .add_option("--threads", common.threads,
                  "Number of threads; 0 uses all cores. The result does not depend on it")
      ->capture_default_str()
      ->check(whole_number());
  command
      .add_option("--device", common.device,
                  "Where kernel weights are computed: auto, cpu, cuda or cuda:N. auto: a GPU where "
                  "libtare_cuda finds one and the job is large; its quantiles are within 1e-5 of "
                  "their level")
      ->capture_default_str()
      ->each([](const std::string& name) { set_default_device(parse_device(name)); });
  command.add_flag("--json", common.json, "Print the result as JSON");
  command.add_flag("-q,--quiet", common.quiet, "Print only the result and errors");
  command.add_flag("-v,--verbose", common.verbose, "Print more about the progress");
  put_in_group(command, kGeneral,
               {"--help", "--threads", "--device", "--json", "--quiet", "--verbose"});
}

}  // namespace tare::cli

int main(int argc, char** argv) {
  // A file-size limit then fails the write, which is reported, instead of killing the process.
  std::signal(SIGXFSZ, SIG_IGN);
  tare::cli::usual_terminate = std::set_terminate(tare::cli::on_terminate);
  tare::cli::hold_standard_streams();
  tare::cli::handle_signals();
  try {
    return tare::cli::finish_output(tare::cli::run(argc, argv));
  } catch (const std::bad_alloc&) {  // before a command began, or for the words of an error
    return tare::cli::out_of_memory();
  } catch (const std::exception& error) {
    return tare::cli::complain(tare::cli::kOther, error.what());
  }
}
