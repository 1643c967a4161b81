// SPDX-License-Identifier: BSD-3-Clause
#include "serve/http/head_check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/fail.h"
#include "base/strings.h"
#include "serve/http/refusal.h"

namespace tare::serve {
namespace {

constexpr std::size_t kLongestHost = 255;

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

bool is_port(std::string_view text) {
  const auto number = parse_count(text);
  return number && *number <= 65'535;
}

/// An address in one spelling, so that equal ones compare equal. Empty: the text is a name.
std::string address_of(const std::string& text) {
  in6_addr six{};
  if (::inet_pton(AF_INET6, text.c_str(), &six) == 1) {
    if (IN6_IS_ADDR_V4MAPPED(&six)) {
      return fmt::format("{}.{}.{}.{}", six.s6_addr[12], six.s6_addr[13], six.s6_addr[14],
                         six.s6_addr[15]);
    }
    std::array<char, INET6_ADDRSTRLEN> out{};
    return ::inet_ntop(AF_INET6, &six, out.data(), out.size());
  }
  in_addr four{};
  return ::inet_pton(AF_INET, text.c_str(), &four) == 1 ? text : "";
}

bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1";
}

/// The authority of "http://host/path"; nothing for "/path".
std::optional<std::string_view> authority_of(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme)) continue;
    text.remove_prefix(scheme.size());
    return text.substr(0, text.find_first_of("/?#"));
  }
  return std::nullopt;
}

}  // namespace

struct HostRules::Host {
  std::string name;  // in lower case; of an address: one spelling
  std::string port;  // empty: none, or that of http or https
  bool is_address = false;
};

void check_framing(const RequestHead& head) {
  if (head.lengths > 1) refuse(400, "Content-Length occurs {} times (send it once)", head.lengths);
  if (head.encodings == 0) return;
  if (head.lengths > 0) {
    refuse(400, "the request has both Content-Length and Transfer-Encoding (send one of them)");
  }
  if (head.version < 11) refuse(400, "HTTP/1.0 has no Transfer-Encoding (send Content-Length)");
  if (head.encodings == 1 && lower_case(head.encoding) == "chunked") return;
  refuse(501, "the Transfer-Encoding is '{}' (the service reads only 'chunked')",
         head.encoding.substr(0, 60));
}

std::optional<HostRules::Host> HostRules::parse(std::string_view text) {
  if (text.empty() || text.size() > kLongestHost) return std::nullopt;
  Host host;
  std::string_view rest;
  if (text.front() == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host.name = address_of(std::string(text.substr(1, end - 1)));
    if (host.name.empty() || text.substr(1, end - 1).find(':') == std::string_view::npos) {
      return std::nullopt;
    }
    host.is_address = true;
    rest = text.substr(end + 1);
  } else {
    const std::size_t end = std::min(text.find(':'), text.size());
    host.name = lower_case(text.substr(0, end));
    rest = text.substr(end);
    if (!std::ranges::all_of(host.name, is_name_letter)) return std::nullopt;
    if (host.name.ends_with('.')) host.name.pop_back();  // a name from the root of the DNS
    if (host.name.empty()) return std::nullopt;
    host.is_address = !address_of(host.name).empty();
  }
  if (rest.empty()) return host;
  rest.remove_prefix(1);
  if (!rest.empty() && !is_port(rest)) return std::nullopt;
  if (rest != "80" && rest != "443") host.port = rest;
  return host;
}

HostRules::HostRules(const Options& options)
    : address_(address_of(options.address == "localhost" ? "127.0.0.1" : options.address)),
      local_(is_loopback(address_)),
      any_name_(!local_ && options.has_token) {
  for (const std::string& name : options.allowed) {
    const auto host = parse(name);
    if (!host) {
      fail(ErrorCode::kInvalidArgument,
           {.option = "allow-host",
            .value = name,
            .remedies = {advice("give names as clients write them, for example tare.example.org")}},
           "'{}' is not a host name", name);
    }
    allowed_.push_back(host->name);
  }
}

bool HostRules::is_allowed(std::string_view name) const {
  return std::ranges::find(allowed_, name) != allowed_.end();
}

bool HostRules::is_own(const Host& host) const {
  if (host.name == "localhost" || is_allowed(host.name)) return true;
  if (!host.is_address) return any_name_;
  // Another site cannot have a name that is an address.
  return !local_ || is_loopback(host.name) || host.name == address_;
}

void HostRules::check(const RequestHead& head) const {
  if (head.hosts > 1) refuse(400, "Host occurs {} times (send it once)", head.hosts);
  if (head.hosts == 0 && head.version >= 11) {
    refuse(400, "the request has no Host (HTTP/1.1 requires it)");
  }
  std::optional<Host> host;
  const auto take = [&](std::string_view text) {
    host = parse(text);
    if (!host) refuse(400, "the Host '{}' is not valid", text.substr(0, 60));
    if (is_own(*host)) return;
    refuse(403,
           "the service does not answer to the name '{}' (use its address; whoever runs it can "
           "allow the name with --allow-host)",
           host->name);
  };
  if (head.hosts > 0) take(head.host);
  if (const auto authority = authority_of(head.target)) take(*authority);
  if (head.origins == 0) return;
  const auto authority = authority_of(head.origin);
  const auto origin = authority ? parse(*authority) : std::nullopt;
  if (head.origins == 1 && origin) {
    if (host && origin->name == host->name && origin->port == host->port) return;
    if (is_allowed(origin->name)) return;
  }
  refuse(403,
         "a page of '{}' may not use this service (whoever runs it can allow that with "
         "--allow-host)",
         head.origin.substr(0, 60));
}

}  // namespace tare::serve
