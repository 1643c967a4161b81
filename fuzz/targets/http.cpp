// SPDX-License-Identifier: BSD-3-Clause
// Bytes of a connection, as they come from a client: a session of the service reads them from one
// end of a pair of sockets, in one piece or two, and answers. The same thread is the client.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "input.h"
#include "serve/http/head_check.h"
#include "serve/session.h"
#include "service_setup.h"

namespace tare::fuzz {
namespace {

namespace asio = boost::asio;

/// The parts of the service that all connections share, made once. Large requests are worked on by
/// the same thread.
struct Network {
  asio::io_context io{1};
  ServiceSetup open{small_models().front()};
  ServiceSetup closed{small_models().front(), "secret"};
  serve::Log log{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
  serve::SessionContext context_open{open.service, open.metrics, log,    open.limits,
                                     io,           true,         "fuzz", serve::HostRules()};
  serve::SessionContext context_closed{
      closed.service,
      closed.metrics,
      log,
      closed.limits,
      io,
      true,
      "fuzz",
      serve::HostRules({.address = "0.0.0.0", .has_token = true, .allowed = {"tare.example"}})};
};

Network& network() {
  static auto* made = new Network;
  return *made;
}

/// The client's end of the pair.
class Client {
 public:
  explicit Client(int socket) : socket_(socket) { ::fcntl(socket_, F_SETFL, O_NONBLOCK); }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::string_view bytes) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    require(sent == static_cast<ssize_t>(bytes.size()) || sent < 0, "small inputs fit the socket");
  }
  void end() { ::shutdown(socket_, SHUT_WR); }
  void take_answer() {
    std::array<char, 65536> room;
    for (;;) {
      const ssize_t count = ::recv(socket_, room.data(), room.size(), 0);
      if (count <= 0) return;
      if (answer_.size() < 64) answer_.append(room.data(), static_cast<std::size_t>(count));
    }
  }
  const std::string& answer() const { return answer_; }

 private:
  int socket_;
  std::string answer_;
};

void check_answer(std::string_view answer) {
  if (answer.empty()) return;
  require(answer.starts_with("HTTP/1.1 ") || answer.starts_with("HTTP/1.0 "),
          "an answer is an HTTP response", answer.substr(0, 64));
  const std::string_view status = answer.substr(9, 3);
  require(status != "500" && status != "503", "bytes of a client are no fault of the service",
          answer);
}

/// Lets the session work until it is gone. One that stays is found by the time limit of an input.
void let_it_work(asio::io_context& io, const std::weak_ptr<serve::Session>& session,
                 Client& client) {
  while (!session.expired()) {
    io.restart();
    io.run_one_for(std::chrono::milliseconds(20));
    client.take_answer();
  }
  io.restart();
  io.poll();  // timers that were cancelled
}

}  // namespace
}  // namespace tare::fuzz

/// Models are fitted before the time of the first input begins.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  tare::fuzz::network();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare;
  fuzz::Network& network = fuzz::network();
  fuzz::Input input(data, size);
  const std::size_t kind = input.choose(8);
  const std::size_t cut = input.choose(256);
  const std::string_view text = input.text();
  serve::SessionContext& context = kind == 1 ? network.context_closed : network.context_open;

  std::array<int, 2> ends{};
  fuzz::require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0,
                "the system gives two sockets");
  fuzz::Client client(ends[0]);
  boost::asio::io_context& io = network.io;
  boost::asio::ip::tcp::socket socket(boost::asio::make_strand(io));
  socket.assign(boost::asio::ip::tcp::v4(), ends[1]);
  auto session = std::make_shared<serve::Session>(
      std::move(socket), context,
      kind == 2 ? serve::Session::Kind::kRefused : serve::Session::Kind::kServed);
  session->start();
  const std::weak_ptr<serve::Session> alive = session;
  session.reset();

  const std::size_t first = kind == 3 && cut < text.size() ? cut : text.size();
  client.send(text.substr(0, first));
  if (first < text.size()) {
    io.restart();
    io.poll();
    client.send(text.substr(first));
  }
  client.end();
  fuzz::let_it_work(io, alive, client);
  client.take_answer();
  fuzz::check_answer(client.answer());
  return 0;
}
