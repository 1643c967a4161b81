// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tare::serve {

/// The number of connections above the limit that get a 429 reply; further ones are closed.
inline constexpr std::size_t kPoliteRefusals = 256;

/// Eight random hexadecimal digits, different for each process.
std::string random_text();

/// The requested number of threads; 0 means all cores.
std::size_t threads_of(std::size_t asked);

/// The requested number of connections, limited by the file descriptors of the system. Raises the
/// limit of the process as far as permitted.
std::size_t allowed_connections(std::size_t asked);

/// Throws kInvalidArgument if the host is not an address.
boost::asio::ip::tcp::endpoint endpoint_of(const std::string& host, std::uint16_t port);

}  // namespace tare::serve
