// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "serve/http/body_buffer.h"
#include "serve/http/head_check.h"
#include "serve/http/limits.h"
#include "serve/http/message.h"
#include "serve/monitor/log.h"
#include "serve/monitor/metrics.h"
#include "serve/service.h"

namespace tare::serve {

/// Where requests that may take long are worked on: the threads of any context.
struct Workers {
  template <class Context>
  Workers(Context& context) : executor(context.get_executor()) {}
  boost::asio::any_io_executor executor;
};

/// The state that all connections share. It must outlive them.
struct SessionContext {
  Service& service;
  Metrics& metrics;
  Log& log;
  const Limits& limits;
  Workers workers;
  bool log_requests = true;  // also those that went well
  std::string process;       // the first part of request ids
  HostRules hosts = {};
  std::atomic<bool> stopping = false;
  std::atomic<std::uint64_t> next_request = 0;
};

/// A connection: reads a request, gets the answer, writes the reply, and repeats. Every step has a
/// time limit, because a client may be slow, silent or disconnected. All handlers run on the
/// socket's strand.
class Session : public std::enable_shared_from_this<Session> {
 public:
  /// A connection above the limit answers its first request with 429 and closes.
  enum class Kind : std::uint8_t { kServed, kRefused };
  Session(boost::asio::ip::tcp::socket socket, SessionContext& context, Kind kind);

  void start();
  /// Stops the connection: a request that has begun is answered, and an idle connection is closed.
  void stop();
  /// Ends the work on its request, from any thread. The request is then not answered as asked.
  void abandon() noexcept { stop_work_ = true; }

 private:
  using Error = boost::system::error_code;
  enum class Step : std::uint8_t { kIdle, kReading, kWorking, kWriting, kClosing };

  void wait_for_request();
  void read_head();
  void on_head(Error error);
  std::optional<Reply> head_refusal();
  RequestHead head() const;
  void limit_unused_body();
  void read_body();
  void on_request();
  void on_read_error(Error error);
  void take_request();
  void answer_beside(bool close) noexcept;
  void close_from_beside() noexcept;
  template <class StepBody>
  void try_step(const StepBody& step) noexcept;
  void answer(Reply reply, bool close);
  bool more_is_there() const;
  void hold(Reply& reply);
  template <class Body>
  struct Sending;
  template <class Body>
  void send(std::shared_ptr<Sending<Body>> sending);
  template <class Body>
  void send_more(std::shared_ptr<Sending<Body>> sending);
  void close_slowly();
  void discard();
  void close();
  void set_timer(std::chrono::milliseconds time);
  void on_timer();
  void log_reply(const Reply& reply) const;
  std::string new_request_id();

  boost::asio::ip::tcp::socket socket_;
  SessionContext& context_;
  CountedIn counted_;
  Kind kind_;
  boost::asio::steady_timer timer_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<CountedBody>> parser_;
  BodyBuffer body_;    // of the request that is being answered: counted until it is
  CountedBytes held_;  // the answer that is being sent
  std::size_t body_limit_ = 0;
  std::string client_;
  Request request_;
  std::optional<CountedIn> in_flight_;  // while a request is being answered
  Step step_ = Step::kIdle;
  bool timed_out_ = false;
  unsigned cancellations_ = 0;         // of the read that timed out
  bool framing_is_known_ = true;       // false: the connection ends with this request
  std::atomic<bool> is_lost_ = false;  // no memory for the answer, nor to say so
  std::atomic<bool> is_closed_ = false;
  std::atomic<bool> stop_work_ = false;            // on the request
  std::chrono::steady_clock::time_point began_;    // when the last byte of the request arrived
  std::chrono::steady_clock::time_point send_by_;  // when its answer must have been read
};

}  // namespace tare::serve
