// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tare::serve {

/// Connections above the limit that are told so politely; still more are cut off.
inline constexpr std::size_t kPoliteRefusals = 256;

/// Eight hexadecimal digits that another process will not have.
std::string random_text();

/// As many as asked for; 0 is all cores.
std::size_t threads_of(std::size_t asked);

/// As many connections as the system has files for, where that is fewer than asked for. Raises the
/// process's own limit as far as it may.
std::size_t allowed_connections(std::size_t asked);

/// Throws kInvalidArgument for a host that is no address.
boost::asio::ip::tcp::endpoint endpoint_of(const std::string& host, std::uint16_t port);

}  // namespace tare::serve
