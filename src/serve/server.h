// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "serve/http/limits.h"

namespace tare::serve {

struct ServerOptions {
  std::string model;               // file
  std::string host = "127.0.0.1";  // an address of this machine
  std::uint16_t port = 8080;       // 0: any that is free
  std::size_t threads = 0;  // for the network, and the same number for large requests; 0: all cores
  Limits limits;
  std::string token;                       // that clients must send; empty: none
  std::vector<std::string> allowed_hosts;  // names by which clients may call it, beside its address
  double watch_level = 0.9;
  std::size_t watch_window = 1'000;
  std::size_t remembered_rows = 1'000'000;
  bool log_requests = true;  // also those that went well

  // Of a model that learns.
  std::string journal;  // file; empty: what it learns is in memory only
  bool journal_sync = false;
  std::uint64_t most_journal_bytes = std::uint64_t{1} << 30;
};

/// How the service ended.
struct ServerEnd {
  bool all_answered = true;  // every request that had begun; false: the time limit was reached
  bool still_working =
      false;  // a thread did not end when it was told to: ~Server would wait for it
};

/// The service. It listens from its construction on, runs until SIGTERM or SIGINT, reloads the
/// model on SIGHUP and when its file changes, and writes its log to standard error.
class Server {
 public:
  /// Throws what loading a model and OnlineTeacher throw, kInvalidArgument for an invalid address
  /// or name, kIo if the port is in use or the system refuses a thread.
  explicit Server(const ServerOptions& options);
  ~Server();

  /// "http://127.0.0.1:8080"
  std::string url() const;
  std::uint16_t port() const;

  /// Returns after a signal to stop. Call it once.
  ServerEnd run();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tare::serve
