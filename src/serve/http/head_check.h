// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tare::serve {

/// The fields of a request's head that decide whether the rest is read. Each count is that of the
/// field's lines.
struct RequestHead {
  unsigned version = 11;  // 10: HTTP/1.0
  std::string_view target = {};
  std::size_t hosts = 0;
  std::string_view host = {};
  std::size_t origins = 0;
  std::string_view origin = {};
  std::size_t lengths = 0;
  std::size_t encodings = 0;
  std::string_view encoding = {};
};

/// Whether it is certain where the body of a request ends. If the service and a proxy before it
/// disagreed, a part of one client's body could pass as another's request. Throws Refusal 400 for
/// more than one Content-Length or one beside a Transfer-Encoding, 501 for a Transfer-Encoding
/// other than "chunked". The connection must then be closed.
void check_framing(const RequestHead& head);

/// The names under which a service is reached. A page of another site whose name resolves to this
/// machine's address ("DNS rebinding") sends that site's name as Host, and a page that merely asks
/// this service sends its own Origin: both are refused.
class HostRules {
 public:
  struct Options {
    std::string address = "127.0.0.1";      // that the service listens on
    bool has_token = false;                 // clients must send one
    std::vector<std::string> allowed = {};  // further names
  };
  HostRules() : HostRules(Options{}) {}
  /// Throws kInvalidArgument for an allowed name that is not a host name or an address.
  explicit HostRules(const Options& options);

  /// Throws Refusal 400 for a Host that is absent from HTTP/1.1, repeated or not valid, 403 for one
  /// that is not the service's, and for an Origin that is neither the Host nor an allowed name.
  void check(const RequestHead& head) const;

 private:
  struct Host;
  static std::optional<Host> parse(std::string_view text);
  bool is_own(const Host& host) const;
  bool is_allowed(std::string_view name) const;

  std::string address_;
  bool local_;     // it listens on the loopback only
  bool any_name_;  // the token protects it
  std::vector<std::string> allowed_;
};

}  // namespace tare::serve
