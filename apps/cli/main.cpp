// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "command.h"
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
    case ErrorCode::kInvalidArgument: return kUsage;
    case ErrorCode::kNotFound: return 3;
    case ErrorCode::kShapeMismatch:
    case ErrorCode::kBadData:
    case ErrorCode::kCorruptFile: return 4;
    case ErrorCode::kUnsupported: return 5;
    case ErrorCode::kIo: return kOther;
  }
  return kOther;
}

int complain(int code, const std::string& text) {
  fmt::print(stderr, "error: {}\n", text);
  return code;
}

int run(int argc, char** argv) {
  Common common;
  CLI::App app(
      "Individually calibrated quantiles and prediction intervals on top of any regression model.\n\n"
      "  tare fit cars.csv --target mpg -o cars.tare\n"
      "  tare predict cars.tare new.csv --levels 0.05,0.5,0.95 > quantiles.csv\n"
      "  tare evaluate cars.tare test.csv\n\n"
      "'tare COMMAND --help' explains a command and shows an example.",
      "tare");
  app.set_version_flag("--version", "tare " + std::string(kVersion));
  app.require_subcommand(1);
  add_fit(app, common);
  add_predict(app, common);
  add_evaluate(app, common);
  add_inspect(app, common);
  add_methods(app, common);
  add_demo(app, common);
  add_completion(app, common);
  try {
    app.parse(argc, argv);  // runs the command's callback
  } catch (const CLI::Success& asked) {
    return app.exit(asked);  // --help, --version
  } catch (const CLI::ParseError& wrong) {
    return complain(kUsage, fmt::format("{} ('tare {}--help' shows what there is)", wrong.what(),
                                        app.get_subcommands().empty()
                                            ? ""
                                            : app.get_subcommands().front()->get_name() + " "));
  } catch (const CheckFailed& failed) {
    fmt::print(stderr, "check failed: {}\n", failed.text);
    return kCheck;
  } catch (const Error& error) {
    return complain(exit_code(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return complain(kOther, "out of memory");
  } catch (const std::exception& error) {
    return complain(kOther, error.what());
  }
  return kDone;
}

}  // namespace

void add_common(CLI::App& command, Common& common) {
  command.add_option("--threads", common.threads, "Threads to use; 0 is all cores. Never changes a result")
      ->capture_default_str();
  command.add_flag("--json", common.json, "Print the result as JSON");
  command.add_flag("-q,--quiet", common.quiet, "Print nothing but the result and errors");
  command.add_flag("-v,--verbose", common.verbose, "Print more of what is done");
}

}  // namespace tare::cli

int main(int argc, char** argv) {
  // A file-size limit then fails the write, which is reported, instead of killing the process.
  std::signal(SIGXFSZ, SIG_IGN);
  return tare::cli::run(argc, argv);
}
