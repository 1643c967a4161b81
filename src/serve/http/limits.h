// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>

namespace tare::serve {

/// Limits for one client and for all clients together. docs/serve.md has them as a table; each has
/// a test.
struct Limits {
  // Of one request.
  std::size_t header_bytes = std::size_t{16} << 10;       // more is 431
  std::size_t body_bytes = std::size_t{16} << 20;         // more is 413
  std::size_t unused_body_bytes = std::size_t{16} << 10;  // of a path that takes no body; 413
  std::size_t rows = 100'000;                             // more is 413
  std::size_t columns = 100'000;  // of a CSV header, or names of a JSON row; more is 413
  std::size_t levels = 1'000;     // more is 413
  std::size_t costs = 10'000;     // entries of a table of costs; more is 413
  std::size_t cells = 2'000'000;  // rows times columns of the answer; more is 413
  /// Numbers that the rows become for the model: a window of a series repeats its rows, and a
  /// category takes a column for each of its values. Also the cells that `keep` copies. More is
  /// 413.
  std::size_t input_cells = 20'000'000;
  std::chrono::milliseconds request_time{
      10'000};  // for a request to arrive (408), and then to be answered (503)

  // Of a connection.
  std::chrono::milliseconds idle_time{60'000};         // without a request; it is then closed
  std::size_t slowest_answer = std::size_t{64} << 10;  // bytes per second that a client must read

  // Of all clients together.
  std::size_t connections = 4'096;                      // more are answered 429 and closed
  std::size_t waiting_batches = 64;                     // for a worker; more are answered 429
  std::size_t buffered_bytes = std::size_t{256} << 20;  // of all bodies together; more are 429
  std::size_t held_bytes = std::size_t{256} << 20;      // of all answers not read yet; more are 429
  std::size_t small_answer = std::size_t{64} << 10;     // bytes that do not count in held_bytes
  std::chrono::milliseconds grace_time{30'000};  // for requests in progress when the service stops
};

}  // namespace tare::serve
