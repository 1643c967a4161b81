// SPDX-License-Identifier: BSD-3-Clause
#include "serve/session.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <cmath>
#include <thread>
#include <utility>

#include "serve/http/http_parts.h"

namespace tare::serve {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using std::chrono::milliseconds;

/// Read at a time, beside the head.
constexpr std::size_t kReadBytes = std::size_t{64} << 10;
/// Until a read that could not be cancelled is cancelled again.
constexpr milliseconds kCancelAgain{20};
/// Whether work that was told to stop has ended.
constexpr milliseconds kLookAgain{100};
/// A read that lacked memory has ended without a word, and no cancellation brings its end.
constexpr unsigned kMostCancellations = 20;
/// For the client to see the answer before the connection goes.
constexpr milliseconds kLinger{1000};
/// An idle connection is kept this long once the service stops: a request may be on its way.
constexpr milliseconds kIdleWhileStopping{500};
constexpr const char* kTooManyHeld =
    "too many answers wait for clients to read them (read answers, and try again in a moment)";

}  // namespace

Session::Session(asio::ip::tcp::socket socket, SessionContext& context, Kind kind)
    : socket_(std::move(socket)),
      context_(context),
      counted_(context.metrics.connections),
      kind_(kind),
      timer_(socket_.get_executor()),
      buffer_(context.limits.header_bytes + kReadBytes) {}

void Session::start() {
  asio::dispatch(socket_.get_executor(), [self = shared_from_this()] {
    Error ignored;
    self->socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    const auto remote = self->socket_.remote_endpoint(ignored);
    self->try_step([&] {
      if (!ignored) {
        self->client_ = fmt::format("{}:{}", remote.address().to_string(), remote.port());
      }
      self->wait_for_request();
    });
  });
}

void Session::stop() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->try_step([&] {
      if (self->step_ == Step::kIdle) {
        self->set_timer(kIdleWhileStopping);
      } else if (self->timer_.expiry() <= std::chrono::steady_clock::now()) {
        self->set_timer(kIdleWhileStopping);  // its end was lost to a lack of memory
      }
    });
  });
}

/// What a step throws is a lack of memory. The connection then ends now: its timer would keep it
/// open.
template <class StepBody>
void Session::try_step(const StepBody& step) noexcept {
  try {
    step();
  } catch (...) {
    context_.log.write_made(
        [&] { return LogLine("error", "connection_failed").text("reason", "out of memory"); });
    close();
  }
}

void Session::set_timer(milliseconds time) {
  timer_.expires_after(time);
  timer_.async_wait([self = shared_from_this()](Error error) {
    if (!error) self->on_timer();
  });
}

void Session::on_timer() {
  if (timer_.expiry() > std::chrono::steady_clock::now()) return;  // set anew in the meantime
  if (step_ == Step::kReading) {
    timed_out_ = true;
    if (++cancellations_ > kMostCancellations) {  // no read is there that could end
      close();
      return;
    }
    Error ignored;
    socket_.cancel(ignored);  // the read ends, and is answered with 408
    set_timer(kCancelAgain);  // bytes that came just now start one more
  } else if (step_ == Step::kWorking) {
    if (is_lost_) {
      close();
      return;
    }
    stop_work_ = true;  // it is answered with 503
    set_timer(kLookAgain);
  } else {
    close();
  }
}

void Session::wait_for_request() {
  request_ = {};
  body_ = {};
  held_.release();
  in_flight_.reset();
  stop_work_ = false;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(context_.limits.header_bytes));
  body_limit_ = context_.limits.body_bytes;
  parser_->body_limit(body_limit_);
  parser_->get().body().count_in(context_.metrics.body_bytes_buffered,
                                 context_.limits.buffered_bytes);
  if (buffer_.size() > 0) {  // the next request came with the last one
    read_head();
    return;
  }
  step_ = Step::kIdle;
  const bool hurry = context_.stopping || kind_ == Kind::kRefused;
  set_timer(hurry ? kIdleWhileStopping : context_.limits.idle_time);
  socket_.async_wait(asio::socket_base::wait_read, [self = shared_from_this()](Error error) {
    if (!error) self->try_step([&] { self->read_head(); });
  });
}

void Session::read_head() {
  step_ = Step::kReading;
  timed_out_ = false;
  cancellations_ = 0;
  set_timer(context_.limits.request_time);
  http::async_read_header(socket_, buffer_, *parser_,
                          [self = shared_from_this()](Error error, std::size_t) {
                            self->try_step([&] { self->on_head(error); });
                          });
}

void Session::on_head(Error error) {
  if (error) {
    on_read_error(error);
    return;
  }
  take_request();
  if (auto refused = head_refusal()) {
    began_ = std::chrono::steady_clock::now();
    const bool has_body = !parser_->is_done() || !framing_is_known_;
    answer(std::move(*refused), /*close=*/has_body || !parser_->keep_alive());
    return;
  }
  if (boost::beast::iequals(parser_->get()[http::field::expect], "100-continue")) {
    auto go_on = std::make_shared<http::response<http::empty_body>>(http::status::continue_,
                                                                    parser_->get().version());
    http::async_write(socket_, *go_on,
                      [self = shared_from_this(), go_on](Error failed, std::size_t) {
                        if (failed) {
                          self->close();
                        } else {
                          self->try_step([&] { self->read_body(); });
                        }
                      });
    return;
  }
  read_body();
}

/// What can be refused before the body is read, so that a client that may not ask holds no memory.
std::optional<Reply> Session::head_refusal() {
  Reply reply;
  if (kind_ == Kind::kRefused) {
    reply = problem_reply(429, "too many connections (try again in a moment)", request_.id);
    reply.route = kNoPath;
    framing_is_known_ = false;  // it is closed in any case
    return reply;
  }
  try {
    const RequestHead fields = head();
    framing_is_known_ = false;
    check_framing(fields);
    framing_is_known_ = true;
    context_.hosts.check(fields);
    if (auto refused = context_.service.refuse_early(request_)) return refused;
    if (!Service::takes_body(request_)) limit_unused_body();
    return std::nullopt;
  } catch (const Refusal& refusal) {
    reply = problem_reply(refusal.status(), refusal.detail(), request_.id);
    reply.route = kNoPath;
    return reply;
  }
}

RequestHead Session::head() const {
  const auto& fields = parser_->get();
  const auto text = [&](http::field name) { return plain(fields[name]); };
  return {.version = fields.version(),
          .target = plain(fields.target()),
          .hosts = fields.count(http::field::host),
          .host = text(http::field::host),
          .origins = fields.count(http::field::origin),
          .origin = text(http::field::origin),
          .lengths = fields.count(http::field::content_length),
          .encodings = fields.count(http::field::transfer_encoding),
          .encoding = text(http::field::transfer_encoding)};
}

/// A body that no one will look at.
void Session::limit_unused_body() {
  body_limit_ = std::min(body_limit_, context_.limits.unused_body_bytes);
  parser_->body_limit(body_limit_);  // of chunks; a length has been compared already
  if (parser_->content_length().value_or(0) <= body_limit_) return;
  refuse(413, "{} {} takes no body, and this one is larger than {} bytes", request_.method,
         request_.target.substr(0, 60), body_limit_);
}

void Session::read_body() {
  if (parser_->is_done()) {
    on_request();
    return;
  }
  http::async_read(socket_, buffer_, *parser_,
                   [self = shared_from_this()](Error error, std::size_t) {
                     self->try_step([&] {
                       if (error) {
                         self->on_read_error(error);
                       } else {
                         self->on_request();
                       }
                     });
                   });
}

/// What the head says; the body follows.
void Session::take_request() {
  const auto& head = parser_->get();
  request_.method = plain(head.method_string());
  request_.target = plain(head.target());
  request_.content_type = plain(head[http::field::content_type]);
  request_.authorization = plain(head[http::field::authorization]);
  const std::string_view id = plain(head["X-Request-Id"]);
  request_.id = is_usable_id(id) ? std::string(id) : new_request_id();
}

std::string Session::new_request_id() {
  return fmt::format("{}-{:x}", context_.process, ++context_.next_request);
}

void Session::on_read_error(Error error) {
  began_ = std::chrono::steady_clock::now();
  parser_->get().body() = {};  // nobody will read what came of it
  auto [status, detail] = read_problem(error, context_.limits, body_limit_);
  if (timed_out_) {
    status = 408;
    detail = fmt::format("the request did not arrive within {} seconds",
                         static_cast<double>(context_.limits.request_time.count()) / 1000.0);
  }
  if (status == 0) {
    close();
    return;
  }
  if (request_.id.empty()) request_.id = new_request_id();
  Reply reply = problem_reply(status, detail, request_.id);
  reply.route = kNoPath;
  answer(std::move(reply), /*close=*/true);
}

void Session::on_request() {
  began_ = std::chrono::steady_clock::now();
  step_ = Step::kWorking;
  set_timer(context_.limits.request_time);
  request_.time = TimeLimit(began_ + context_.limits.request_time, &stop_work_);
  body_ = std::move(parser_->get().body());
  request_.body = std::move(body_.text);
  const bool close = !parser_->keep_alive();
  in_flight_.emplace(context_.metrics.requests_in_flight);
  if (!context_.service.may_take_long(request_)) {
    answer(context_.service.handle(request_), close);
    return;
  }
  CountedIn waiting(context_.metrics.batches_waiting);
  const bool crowded = context_.metrics.batches_waiting > context_.limits.waiting_batches;
  if (crowded || context_.metrics.answer_bytes_held >= context_.limits.held_bytes) {
    Reply reply = problem_reply(429,
                                crowded ? "too many large requests are waiting (try again in a "
                                          "moment)"
                                        : kTooManyHeld,
                                request_.id);
    reply.route = kNoPath;
    answer(std::move(reply), close);
    return;
  }
  asio::post(context_.workers.executor,
             [self = shared_from_this(), close, waiting = std::move(waiting)] {
               self->answer_beside(close);
             });
}

/// On a worker. Where there is no memory left even for the way back, the connection ends.
void Session::answer_beside(bool close) noexcept {
  try {
    auto reply = std::make_shared<Reply>(context_.service.handle(request_));
    asio::post(socket_.get_executor(), [self = shared_from_this(), close, reply] {
      self->try_step([&] { self->answer(std::move(*reply), close); });
    });
  } catch (...) {
    close_from_beside();
  }
}

/// The client learns of it at once: telling the system takes no memory, and no other thread closes
/// the socket before is_lost_ is set. The rest is for the threads of the network.
void Session::close_from_beside() noexcept {
  constexpr milliseconds kBetweenTries{20};
  ::shutdown(socket_.native_handle(), SHUT_RDWR);
  request_ = {};  // its memory may be all that is missing
  is_lost_ = true;
  while (!is_closed_) {
    try {
      asio::post(socket_.get_executor(), [self = shared_from_this()] { self->close(); });
      return;
    } catch (...) {
      std::this_thread::sleep_for(kBetweenTries);
    }
  }
}

/// Whether the client has sent more behind this request: that has begun, too.
bool Session::more_is_there() const {
  Error ignored;
  return buffer_.size() > 0 || socket_.available(ignored) > 0;
}

/// Counts a large answer among those that clients have not read yet, or replaces it by a refusal.
void Session::hold(Reply& reply) {
  if (reply.body.size() <= context_.limits.small_answer) return;
  if (held_.take(context_.metrics.answer_bytes_held, reply.body.size(),
                 context_.limits.held_bytes)) {
    return;
  }
  const std::size_t route = reply.route;
  reply = problem_reply(429, kTooManyHeld, request_.id);
  reply.route = route;
}

/// An answer on its way.
template <class Body>
struct Session::Sending {
  Sending(http::status status, unsigned version) : response(status, version) {}
  http::response<Body> response;
  http::response_serializer<Body> serializer{response};
  bool close = false;
};

void Session::answer(Reply reply, bool close) {
  close = close || (context_.stopping && !more_is_there());
  hold(reply);
  log_reply(reply);
  request_.body = {};
  body_ = {};  // it is not needed any more, however long the answer takes to be read
  const unsigned version = parser_->get().version() == 10 ? 10 : 11;
  const auto status = static_cast<http::status>(reply.status);
  if (request_.method == "HEAD") {
    auto sending = std::make_shared<Sending<http::empty_body>>(status, version);
    set_fields(sending->response, reply, request_.id, close);
    sending->response.content_length(reply.body.size());
    sending->close = close;
    send(std::move(sending));
    return;
  }
  auto sending = std::make_shared<Sending<http::string_body>>(status, version);
  set_fields(sending->response, reply, request_.id, close);
  sending->response.body() = std::move(reply.body);
  sending->response.prepare_payload();
  sending->close = close;
  send(std::move(sending));
}

template <class Body>
void Session::send(std::shared_ptr<Sending<Body>> sending) {
  step_ = Step::kWriting;
  const std::size_t bytes = sending->response.payload_size().value_or(0);
  send_by_ = std::chrono::steady_clock::now() + context_.limits.request_time +
             milliseconds(1000 * bytes / context_.limits.slowest_answer);
  send_more(std::move(sending));
}

/// Piece by piece: a client that takes none for the time of a request is cut off, and one that
/// takes them too slowly is cut off in the end.
template <class Body>
void Session::send_more(std::shared_ptr<Sending<Body>> sending) {
  const auto left =
      std::chrono::duration_cast<milliseconds>(send_by_ - std::chrono::steady_clock::now());
  set_timer(std::clamp(left, milliseconds(0), context_.limits.request_time));
  auto& serializer = sending->serializer;
  http::async_write_some(
      socket_, serializer,
      [self = shared_from_this(), sending = std::move(sending)](Error error, std::size_t) {
        self->try_step([&] {
          if (error) {
            self->close();
          } else if (!sending->serializer.is_done()) {
            self->send_more(sending);
          } else if (sending->close) {
            self->close_slowly();
          } else {
            self->wait_for_request();
          }
        });
      });
}

/// Says that nothing more will come and reads what the client still sends: closing at once could
/// make its system throw away the answer.
void Session::close_slowly() {
  step_ = Step::kClosing;
  request_ = {};
  held_.release();
  in_flight_.reset();
  Error ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  set_timer(kLinger);
  discard();
}

void Session::discard() {
  buffer_.clear();
  socket_.async_read_some(buffer_.prepare(kReadBytes / 8),
                          [self = shared_from_this()](Error error, std::size_t) {
                            self->try_step([&] {
                              if (error) {
                                self->close();
                              } else {
                                self->discard();
                              }
                            });
                          });
}

void Session::close() {
  step_ = Step::kClosing;
  is_closed_ = true;
  timer_.cancel();
  Error ignored;
  socket_.close(ignored);
}

void Session::log_reply(const Reply& reply) const {
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  context_.metrics.count_request(reply.route, reply.status, seconds, reply.rows);
  if (reply.status < 400 && !context_.log_requests) return;
  const std::string_view level =
      reply.status < 400 ? "info" : (reply.status < 500 ? "warning" : "error");
  LogLine line(level, "request");
  line.text("id", request_.id)
      .text("client", client_)
      .text("method", std::string_view(request_.method).substr(0, 20))
      .text("target", std::string_view(request_.target).substr(0, 200))
      .count("status", reply.status)
      .count("rows", reply.rows)
      .count("bytes_in", request_.body.size())
      .count("bytes_out", reply.body.size())
      .number("ms", std::round(seconds * 1e6) / 1e3);
  if (!reply.problem.empty()) line.text("problem", reply.problem);
  context_.log.write(line);
}

}  // namespace tare::serve
