// SPDX-License-Identifier: BSD-3-Clause
#include "serve/machine.h"

#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <random>
#include <thread>

#include "base/fail.h"

namespace tare::serve {
namespace {

/// File descriptors that are not connections: log, model, signals, the epoll's own.
constexpr std::size_t kOtherFiles = 64;

}  // namespace

std::string random_text() {
  std::random_device device;
  return fmt::format("{:08x}", device());
}

std::size_t threads_of(std::size_t asked) {
  if (asked > 0) return asked;
  return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

std::size_t allowed_connections(std::size_t asked) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return asked;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const std::size_t room = files.rlim_cur > 2 * kOtherFiles ? files.rlim_cur - kOtherFiles : 1;
  return std::min(asked, room > 2 * kPoliteRefusals ? room - kPoliteRefusals : room);
}

boost::asio::ip::tcp::endpoint endpoint_of(const std::string& host, std::uint16_t port) {
  boost::system::error_code failure;
  const auto address =
      boost::asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, failure);
  if (failure) {
    fail(ErrorCode::kInvalidArgument,
         {.option = "host",
          .value = host,
          .remedies = {advice("127.0.0.1 is this machine only, 0.0.0.0 all networks")}},
         "'{}' is not an address", host);
  }
  return {address, port};
}

}  // namespace tare::serve
