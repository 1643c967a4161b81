// SPDX-License-Identifier: BSD-3-Clause
#include "serve/server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <cmath>
#include <csignal>
#include <mutex>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

#include "base/fail.h"
#include "serve/context_threads.h"
#include "serve/machine.h"
#include "serve/model/model_holder.h"
#include "serve/monitor/log.h"
#include "serve/monitor/metrics.h"
#include "serve/monitor/observations.h"
#include "serve/online/online_teacher.h"
#include "serve/round.h"
#include "serve/service.h"
#include "serve/session.h"

namespace tare::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::milliseconds;
using Failure = boost::system::error_code;

constexpr milliseconds kLookAtFile{500};
constexpr milliseconds kLookWhileStopping{10};
constexpr milliseconds kWaitForFiles{50};  // where the system has no file descriptor left
constexpr milliseconds kLastWork{2000};    // for work that was told to end
constexpr milliseconds kWaitForMemory{20};
constexpr std::size_t kStrands = 257;

}  // namespace

namespace {

/// While it lives, the process ends where there is no memory, with the tool's words for it.
class EndWithoutMemory {
 public:
  EndWithoutMemory() : before_(std::set_new_handler(&end)) {}
  ~EndWithoutMemory() { std::set_new_handler(before_); }
  EndWithoutMemory(const EndWithoutMemory&) = delete;
  EndWithoutMemory& operator=(const EndWithoutMemory&) = delete;

 private:
  static void end() {
    constexpr std::string_view kWords = "error: out of memory\n";
    // The result does not matter: there is nothing else to do.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kWords.data(), kWords.size());
    ::_exit(1);
  }

  std::new_handler before_;
};

}  // namespace

class Server::Impl {
 public:
  explicit Impl(const ServerOptions& options)
      : options_(with_allowed_connections(options)),
        models_(options_.model),
        observations_({.level = options_.watch_level,
                       .window = options_.watch_window,
                       .remembered = options_.remembered_rows,
                       .prefix = random_text()}),
        teacher_({.journal = options_.journal,
                  .sync = options_.journal_sync ? JournalSync::kAlways : JournalSync::kSystem,
                  .most_journal_bytes = options_.most_journal_bytes,
                  .remembered = options_.remembered_rows,
                  .watch = options_.watch_level},
                 *models_.now()->model),
        service_(models_, observations_, metrics_, options_.limits, options_.token, &teacher_),
        log_(STDERR_FILENO),
        context_{service_,
                 metrics_,
                 log_,
                 options_.limits,
                 work_,
                 options_.log_requests,
                 observations_.options().prefix,
                 HostRules({.address = options_.host,
                            .has_token = !options_.token.empty(),
                            .allowed = options_.allowed_hosts})},
        strands_(make_strands(io_)),
        acceptor_(strands_.back()),
        accept_pause_(acceptor_.get_executor()),
        file_timer_(io_),
        stop_timer_(acceptor_.get_executor()),
        signals_(io_, SIGTERM, SIGINT, SIGHUP),
        network_(io_, log_, [this] { start_rounds(); }),
        workers_(work_, log_),
        loader_(loads_, log_) {
    observations_.start_model(models_.now()->number);
    listen();
    // All of them now: a service that cannot have its threads must not say that it listens.
    const std::size_t threads = threads_of(options_.threads);
    network_.start(threads - 1);  // run() is one more
    workers_.start(threads);
    loader_.start(1);
  }

  std::string url() const {
    const bool v6 = endpoint_.address().is_v6();
    const std::string host = endpoint_.address().to_string();
    return fmt::format("http://{}:{}", v6 ? "[" + host + "]" : host, endpoint_.port());
  }
  std::uint16_t port() const { return endpoint_.port(); }

  ServerEnd run() {
    must_start([this] { log_start(); });
    start_rounds();  // all of them
    network_.run();
    loader_.stop();
    workers_.stop();
    const bool ended =
        workers_.wait(kLastWork) && loader_.wait(kLastWork) && network_.wait(kLastWork);
    log_.write_made([&] { return LogLine("info", "stopped").count("unanswered", unanswered_); });
    if (!ended) log_.flush(kLastWork);
    return {.all_answered = unanswered_ == 0, .still_working = !ended};
  }

 private:
  static ServerOptions with_allowed_connections(ServerOptions options) {
    options.limits.connections = allowed_connections(options.limits.connections);
    return options;
  }

  using Strand = asio::strand<asio::io_context::executor_type>;

  /// Strands are made at the start, and connections share them: where there is no memory for a new
  /// one, asio destroys what it has not set yet, and crashes or waits for ever (Boost 1.81,
  /// ~strand_impl). So a lack of memory ends the process here, where nothing can be lost.
  static std::vector<Strand> make_strands(asio::io_context& context) {
    const EndWithoutMemory end_here;
    std::vector<Strand> strands;
    strands.reserve(kStrands + 1);  // the last one is the acceptor's
    strands.push_back(asio::make_strand(context));
    for (std::size_t i = 0; i < kStrands; ++i) strands.push_back(asio::make_strand(context));
    return strands;
  }

  /// For the strand of the acceptor.
  const Strand& next_strand() noexcept { return strands_[next_strand_++ % kStrands]; }

  /// Starts the next round of something that goes on until the service stops. Where there is no
  /// memory for it, waits for some: a connection may end for that reason, the service may not.
  template <class Start>
  static void must_start(const Start& start) noexcept {
    for (;;) {
      try {
        start();
        return;
      } catch (const std::exception&) {
        std::this_thread::sleep_for(kWaitForMemory);
      }
    }
  }

  void listen() {
    const tcp::endpoint wanted = endpoint_of(options_.host, options_.port);
    Failure failure;
    acceptor_.open(wanted.protocol(), failure);
    if (!failure) acceptor_.set_option(asio::socket_base::reuse_address(true), failure);
    if (!failure) acceptor_.bind(wanted, failure);
    if (!failure) acceptor_.listen(asio::socket_base::max_listen_connections, failure);
    if (failure) {
      fail(ErrorCode::kIo, {.remedies = {use("port", "0", "for one that is free")}},
           "cannot listen on {} port {}: {}", options_.host, options_.port, failure.message());
    }
    endpoint_ = acceptor_.local_endpoint();
  }

  void log_start() {
    const auto now = models_.now();
    LogLine line("info", "listening");
    line.text("url", url())
        .text("model", models_.path())
        .text("version", now->model->version())
        .text("method", now->model->fitted().method)
        .count("threads", threads_of(options_.threads))
        .count("max_connections", options_.limits.connections)
        .text("token", options_.token.empty() ? "none" : "wanted");
    log_.write(line);
    log_online();
    if (!endpoint_.address().is_loopback() && options_.token.empty()) {
      log_.write(LogLine("warning", "open_to_the_network")
                     .text("remedy", "use --token-file, or --host 127.0.0.1"));
    }
  }

  void log_online() {
    if (!teacher_.is_online()) return;
    const OnlineTeacher::Start& start = teacher_.start();
    if (options_.journal.empty()) {
      log_.write(LogLine("warning", "learns_in_memory_only")
                     .count("rows", start.rows)
                     .text("remedy", "use --journal FILE to keep what it learns"));
      return;
    }
    if (start.cut_bytes > 0) {
      log_.write(LogLine("warning", "journal_cut")
                     .text("journal", options_.journal)
                     .count("bytes", start.cut_bytes)
                     .text("reason", "the last record was not written whole"));
    }
    log_.write(LogLine("info", "journal")
                   .text("journal", options_.journal)
                   .count("skipped", start.skipped)
                   .count("replayed", start.replayed)
                   .count("rows", start.rows));
  }

  /// Starts what goes on until the service stops, as far as it is not under way: at the start, and
  /// where a handler was lost, as asio may have had no memory to call it.
  void start_rounds() noexcept {
    must_start([this] {
      asio::post(strands_.back(), [this] {  // the acceptor's
        must_start([this] {
          if (acceptor_.is_open()) accept();
        });
      });
    });
    must_start([this] { wait_for_signal(); });
    must_start([this] { watch_file(); });
  }

  void accept() {
    if (!Round::begin(accepting_)) return;
    auto taken = [this, round = Round(accepting_)](Failure failure, tcp::socket socket) mutable {
      round.end();
      if (!failure) try_take(std::move(socket));  // also one that came just before the end
      must_start([&] {
        if (failure && acceptor_.is_open()) {
          pause_accepting();
        } else {
          accept_next();
        }
      });
    };
    acceptor_.async_accept(next_strand(), std::move(taken));
  }

  void accept_next() {
    if (acceptor_.is_open()) {
      accept();
    } else {
      wait_for_sessions();  // nobody will come any more
    }
  }

  void pause_accepting() {
    accept_pause_.expires_after(kWaitForFiles);
    accept_pause_.async_wait([this](Failure) { must_start([this] { accept_next(); }); });
  }

  /// Where there is no memory for a connection, it is closed.
  void try_take(tcp::socket socket) noexcept {
    try {
      take(std::move(socket));
    } catch (const std::exception& error) {
      log_.write_made(
          [&] { return LogLine("error", "connection_failed").text("reason", error.what()); });
    }
  }

  void take(tcp::socket socket) {
    ++metrics_.connections_total;
    const std::uint64_t open = metrics_.connections.load();
    if (open >= options_.limits.connections) ++metrics_.connections_refused;
    if (open >= options_.limits.connections + kPoliteRefusals) return;  // closes it
    const auto kind =
        open >= options_.limits.connections ? Session::Kind::kRefused : Session::Kind::kServed;
    auto session = std::make_shared<Session>(std::move(socket), context_, kind);
    remember(session);
    session->start();
  }

  /// Sessions that stop() must tell; those that are gone are forgotten now and then.
  void remember(const std::shared_ptr<Session>& session) {
    const std::lock_guard lock(sessions_guard_);
    sessions_.push_back(session);
    if (sessions_.size() < forget_at_) return;
    std::erase_if(sessions_, [](const std::weak_ptr<Session>& one) { return one.expired(); });
    forget_at_ = std::max<std::size_t>(64, 2 * sessions_.size());
  }

  void wait_for_signal() {
    if (!Round::begin(waiting_for_signal_)) return;
    signals_.async_wait(
        [this, round = Round(waiting_for_signal_)](Failure failure, int signal) mutable {
          round.end();
          if (failure) return;
          if (signal == SIGHUP) {
            log_.write_made([] { return LogLine("info", "signal").text("name", "SIGHUP"); });
            reload();
          } else if (context_.stopping) {
            finish();  // told twice
            return;
          } else {
            stop(signal);
          }
          must_start([this] { wait_for_signal(); });
        });
  }

  void watch_file() {
    if (!Round::begin(watching_file_)) return;
    Round begun(watching_file_);
    file_timer_.expires_after(kLookAtFile);
    file_timer_.async_wait([this, round = std::move(begun)](Failure failure) mutable {
      round.end();
      if (failure || context_.stopping) return;
      if (models_.file_changed() || teacher_.is_broken()) reload();
      must_start([this] { watch_file(); });
    });
  }

  /// One at a time, and one more at most that waits: it will see what came in the meantime.
  void reload() noexcept {
    if (reload_waits_.exchange(true)) return;
    must_start([this] { asio::post(loads_, [this] { reload_now(); }); });
  }

  void reload_now() {
    reload_waits_ = false;
    if (context_.stopping) return;
    const auto start = std::chrono::steady_clock::now();
    if (teacher_.is_broken()) models_.distrust();
    const ModelHolder::Reload result =
        models_.reload([this](std::uint32_t number) { observations_.start_model(number); },
                       [this](const ServedModel& fresh, const ServedModel& present) {
                         OnlineTeacher::Switch done = teacher_.switch_to(fresh, present);
                         return ModelHolder::Prepared{std::move(done.lock), done.continues};
                       });
    const double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    log_reload(result, ms);
  }

  void log_reload(const ModelHolder::Reload& result, double ms) {
    switch (result.outcome) {
      case ModelHolder::Outcome::kSwitched:
        ++metrics_.reloads_switched;
        log_.write(LogLine("info", "model_switched")
                       .text("version", result.version)
                       .number("ms", std::round(ms)));
        break;
      case ModelHolder::Outcome::kSame:
        ++metrics_.reloads_same;
        log_.write(LogLine("info", "model_unchanged").text("version", result.version));
        break;
      case ModelHolder::Outcome::kRefused:
        ++metrics_.reloads_refused;
        log_.write(LogLine("error", "model_refused")
                       .text("reason", result.reason)
                       .text("still_serving", result.version));
        break;
    }
  }

  void stop(int signal) noexcept {
    log_.write_made([&] {
      return LogLine("info", "stopping").text("signal", signal == SIGINT ? "SIGINT" : "SIGTERM");
    });
    service_.stop();
    context_.stopping = true;
    stop_by_ = std::chrono::steady_clock::now() + options_.limits.grace_time;
    must_start([this] {
      asio::post(acceptor_.get_executor(), [this] { must_start([this] { stop_accepting(); }); });
    });
  }

  /// May be repeated where it ended for lack of memory.
  void stop_accepting() {
    take_waiting();
    Failure ignored;
    acceptor_.close(ignored);
    accept_pause_.cancel();
    const std::lock_guard lock(sessions_guard_);
    for (const auto& one : sessions_) {
      if (const auto session = one.lock()) session->stop();
    }
  }

  /// Connections that the system has made already, although nobody has asked for them yet.
  void take_waiting() {
    Failure failure;
    acceptor_.non_blocking(true, failure);
    while (!failure) {
      tcp::socket socket(next_strand());
      acceptor_.accept(socket, failure);
      if (!failure) try_take(std::move(socket));
    }
  }

  void wait_for_sessions() {
    unanswered_ = metrics_.requests_in_flight.load();
    if (metrics_.connections == 0 || std::chrono::steady_clock::now() > stop_by_) {
      finish();
      return;
    }
    stop_timer_.expires_after(kLookWhileStopping);
    stop_timer_.async_wait([this](Failure failure) {
      if (!failure) must_start([this] { wait_for_sessions(); });
    });
  }

  void finish() {
    unanswered_ = metrics_.requests_in_flight.load();
    {
      const std::lock_guard lock(sessions_guard_);
      for (const auto& one : sessions_) {
        if (const auto session = one.lock()) session->abandon();
      }
    }
    workers_.stop();
    network_.stop();
  }

  // In the order in which they need each other: threads go first, then sessions, which io_ and
  // work_ hold.
  ServerOptions options_;
  ModelHolder models_;
  Observations observations_;
  Metrics metrics_;
  OnlineTeacher teacher_;
  Service service_;
  Log log_;
  asio::io_context io_;
  asio::io_context work_;   // large requests
  asio::io_context loads_;  // of the model file
  SessionContext context_;
  std::vector<Strand> strands_;  // of connections
  std::size_t next_strand_ = 0;
  std::atomic<bool> accepting_ = false;
  std::atomic<bool> waiting_for_signal_ = false;
  std::atomic<bool> watching_file_ = false;
  tcp::acceptor acceptor_;
  asio::steady_timer accept_pause_;
  asio::steady_timer file_timer_;
  asio::steady_timer stop_timer_;
  asio::signal_set signals_;
  tcp::endpoint endpoint_;
  std::mutex sessions_guard_;
  std::vector<std::weak_ptr<Session>> sessions_;
  std::size_t forget_at_ = 64;
  std::atomic<bool> reload_waits_ = false;
  std::chrono::steady_clock::time_point stop_by_;
  std::atomic<std::uint64_t> unanswered_ = 0;
  ContextThreads network_;
  ContextThreads workers_;
  ContextThreads loader_;
};

Server::Server(const ServerOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Server::~Server() = default;
std::string Server::url() const { return impl_->url(); }
std::uint16_t Server::port() const { return impl_->port(); }
ServerEnd Server::run() { return impl_->run(); }

}  // namespace tare::serve
