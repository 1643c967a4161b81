// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>

namespace tare::serve {

/// Limits for one client and for all clients together.
struct Limits {
  std::size_t body_bytes = std::size_t{16} << 20;       // of one request; more is 413
  std::size_t rows = 100'000;                           // of one request; more is 413
  std::size_t cells = 2'000'000;                        // rows times levels of one request
  std::size_t levels = 1'000;                           // of one request
  std::size_t header_bytes = std::size_t{16} << 10;     // more is 431
  std::size_t connections = 4'096;                      // more are answered 429 and closed
  std::size_t waiting_batches = 64;                     // for a worker; more are answered 429
  std::size_t buffered_bytes = std::size_t{256} << 20;  // of all bodies together; more are 429
  std::chrono::milliseconds request_time{
      10'000};  // for a request to arrive (408), and to be worked on (503)
  std::chrono::milliseconds idle_time{60'000};   // a connection without a request is then closed
  std::chrono::milliseconds grace_time{30'000};  // for requests in progress when the service stops
};

}  // namespace tare::serve
