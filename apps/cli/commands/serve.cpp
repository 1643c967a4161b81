// SPDX-License-Identifier: BSD-3-Clause
#include "serve/server.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "base/strings.h"
#include "io/files/byte_source.h"
#include "support/command.h"

namespace tare::cli {
namespace {

struct ServeOptions {
  serve::ServerOptions server;
  std::string token_file;
  std::size_t port = 8080;
  double timeout_s = 10.0;
  std::size_t max_body_kib = 16 * 1024;
  std::size_t max_buffered_mib = 256;
  std::string allow_host;
  std::string log = "all";
  std::size_t max_journal_mib = 1024;
};

// Beyond these a value is a typing error, and would not fit the units that it is converted to.
constexpr double kLongestTimeout = 86'400.0;                    // a day
constexpr std::size_t kMostBodyKib = std::size_t{64} << 20;     // 64 GiB
constexpr std::size_t kMostBufferedMib = std::size_t{1} << 20;  // 1 TiB
constexpr std::size_t kMostCount = 1'000'000'000;               // rows, connections, ...
constexpr std::size_t kMostThreads = 4'096;

/// The first line of the file.
std::string read_token(const std::string& path) {
  constexpr std::size_t kLongest = 4096;
  const auto source = open_bytes(path);
  std::string text(kLongest, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const std::size_t read = source->read(text.data() + size, text.size() - size);
    if (read == 0) break;
    size += read;
  }
  text.resize(size);
  const std::string token(trim(std::string_view(text).substr(0, text.find('\n'))));
  if (token.empty()) {
    fail(ErrorCode::kBadData,
         "{}: the first line is empty; write the token there (for example the output of openssl "
         "rand -hex 32)",
         path);
  }
  return token;
}

void check_options(const ServeOptions& options) {
  if (options.port > 65'535) {
    fail(ErrorCode::kInvalidArgument, "--port must be at most 65535, got {}", options.port);
  }
  if (options.log != "all" && options.log != "errors") {
    fail(ErrorCode::kInvalidArgument, "--log must be all or errors, got '{}'", options.log);
  }
  const serve::ServerOptions& server = options.server;
  if (!(server.watch_level > 0.0 && server.watch_level < 1.0)) {
    fail(ErrorCode::kInvalidArgument,
         "--watch {} does not lie strictly between 0 and 1 (0.9 means 90 %)", server.watch_level);
  }
  if (!(options.timeout_s <= kLongestTimeout)) {
    fail(ErrorCode::kInvalidArgument, "--timeout must be at most {} seconds (a day), got {}",
         kLongestTimeout, options.timeout_s);
  }
  const auto check = [](const char* name, std::size_t value, std::size_t least, std::size_t most) {
    if (value < least) {
      fail(ErrorCode::kInvalidArgument, "{} must be {} or more, got {}", name, least, value);
    }
    if (value > most) {
      fail(ErrorCode::kInvalidArgument, "{} must be at most {}, got {}", name, most, value);
    }
  };
  check("--max-body", options.max_body_kib, 1, kMostBodyKib);
  check("--max-buffered", options.max_buffered_mib, 1, kMostBufferedMib);
  check("--max-journal", options.max_journal_mib, 1, kMostBufferedMib);
  check("--max-rows", server.limits.rows, 1, kMostCount);
  check("--max-connections", server.limits.connections, 1, kMostCount);
  check("--watch-window", server.watch_window, 1, kMostCount);
  check("--remember", server.remembered_rows, 0, kMostCount);
}

void run_serve(ServeOptions options, const Common& common) {
  check_options(options);
  if (common.threads > kMostThreads) {
    fail(ErrorCode::kInvalidArgument, "--threads must be at most {}, got {}", kMostThreads,
         common.threads);
  }
  serve::ServerOptions& server = options.server;
  server.port = static_cast<std::uint16_t>(options.port);
  server.threads = common.threads;
  server.limits.body_bytes = options.max_body_kib << 10;
  server.limits.buffered_bytes = options.max_buffered_mib << 20;
  server.limits.held_bytes = options.max_buffered_mib << 20;
  server.most_journal_bytes = std::uint64_t{options.max_journal_mib} << 20;
  server.allowed_hosts = split_names(options.allow_host);
  server.limits.request_time =
      std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout_s * 1000.0));
  server.log_requests = options.log == "all" && !common.quiet;
  if (!options.token_file.empty()) server.token = read_token(options.token_file);
  server.limits.grace_time +=
      server.limits.request_time;  // a request that has just begun may take that long
  std::signal(SIGPIPE, SIG_IGN);   // a closed reader of the log does not end the service
  std::signal(SIGXFSZ, SIG_IGN);   // a journal that may not grow any more is an error of write()
  serve::Server service(server);
  if (common.json) {
    fmt::print("{}\n",
               nlohmann::ordered_json{{"url", service.url()}, {"port", service.port()}}.dump());
  } else {
    fmt::print("{}\n", service.url());
  }
  std::fflush(stdout);
  const serve::ServerEnd end = service.run();
  constexpr const char* kUnanswered = "stopped before every request was answered";
  if (end.still_working) {  // the end of this function would wait for it
    if (!end.all_answered) std::fprintf(stderr, "error: %s\n", kUnanswered);
    std::_Exit(end.all_answered ? 0 : 1);
  }
  if (!end.all_answered) fail(ErrorCode::kIo, kUnanswered);
}

}  // namespace

void add_serve(CLI::App& app, Common& common) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand("serve", "Serve predictions over HTTP, with a web page");
  command->footer(
      "Examples:\n"
      "  tare serve cars.tare                       then open http://127.0.0.1:8080\n"
      "  tare serve cars.tare --port 0 --token-file secret.txt\n"
      "  tare serve online.tare --journal online.journal    learns what /v1/observe gets\n"
      "  curl -s localhost:8080/v1/predict -H 'Content-Type: application/json' \\\n"
      "    -d '{\"rows\": [{\"hp\": 150, \"weight\": 3436}], \"interval\": 0.9}'\n"
      "The address goes to standard output. The log, one JSON object per line, goes to standard "
      "error.\n"
      "SIGTERM finishes the requests that have begun and stops. SIGHUP, or a new file under the "
      "model's\n"
      "name, reloads the model.");
  serve::ServerOptions& server = options->server;
  const auto count = [&](const char* name, std::size_t& value, const char* help) {
    command->add_option(name, value, help)->capture_default_str()->check(whole_number());
  };
  command->add_option("model", server.model, "Model file of 'tare fit'")->required();
  command
      ->add_option("--host", server.host,
                   "Address to listen on; 0.0.0.0 listens on all networks of this machine")
      ->capture_default_str();
  count("--port", options->port, "Port to listen on; 0 selects a free port and prints it");
  command->add_option("--token-file", options->token_file,
                      "File whose first line clients must send as 'Authorization: Bearer ...'");
  command->add_option("--allow-host", options->allow_host,
                      "Names by which clients may call the service, beside its address: NAME,...");
  count("--max-body", options->max_body_kib,
        "Maximum size of a request body in KiB; larger ones are answered 413");
  count("--max-buffered", options->max_buffered_mib,
        "Maximum size in MiB of all request bodies together, and of all answers that clients have "
        "not read yet; more are answered 429");
  count("--max-rows", server.limits.rows,
        "Maximum number of rows of a request; larger ones are answered 413");
  count("--max-connections", server.limits.connections,
        "Maximum number of open connections; further ones are answered 429");
  command
      ->add_option(
          "--timeout", options->timeout_s,
          "Time limit in seconds for a request to arrive (then 408) and to be answered (then 503)")
      ->capture_default_str()
      ->check(seconds());
  command
      ->add_option("--watch", server.watch_level,
                   "Confidence of the central interval whose coverage /v1/observe monitors")
      ->capture_default_str();
  count("--watch-window", server.watch_window,
        "Number of most recent observations over which coverage is measured");
  count("--remember", server.remembered_rows,
        "Number of predicted rows whose target can be reported later by id; 16 to 24 bytes each, "
        "and those of an online model in at most 128 MiB. Also the number of ids of observed rows "
        "that an online model knows as repeated");
  command->add_option("--journal", server.journal,
                      "File for the rows that an online model learns from /v1/observe. Each is "
                      "written before it is acknowledged, and learned again at the next start");
  command->add_flag("--journal-sync", server.journal_sync,
                    "Wait for the disk before a row is acknowledged, so that a power cut loses "
                    "none");
  count("--max-journal", options->max_journal_mib,
        "Maximum size of the journal in MiB; rows beyond it are refused with 503");
  command->add_option("--log", options->log, "Requests to log: all, or only errors")
      ->capture_default_str();
  add_common(*command, common);
  command->callback([options, &common] { run_serve(*options, common); });
}

}  // namespace tare::cli
