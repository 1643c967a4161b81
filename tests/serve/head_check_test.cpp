// SPDX-License-Identifier: BSD-3-Clause
#include "serve/http/head_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "serve/http/refusal.h"
#include "tare/base/error.h"

namespace tare::serve {
namespace {

RequestHead from(std::string_view host) { return {.target = "/", .hosts = 1, .host = host}; }

/// 200, or the status of the refusal.
unsigned status_of(const HostRules& rules, const RequestHead& head) {
  try {
    rules.check(head);
    return 200;
  } catch (const Refusal& refusal) {
    return refusal.status();
  }
}

unsigned framing_of(const RequestHead& head) {
  try {
    check_framing(head);
    return 200;
  } catch (const Refusal& refusal) {
    return refusal.status();
  }
}

TEST(Framing, IsCertainOrRefused) {
  EXPECT_EQ(framing_of({.lengths = 1}), 200U);
  EXPECT_EQ(framing_of({.lengths = 2}), 400U);
  EXPECT_EQ(framing_of({.encodings = 1, .encoding = "chunked"}), 200U);
  EXPECT_EQ(framing_of({.encodings = 1, .encoding = "Chunked"}), 200U);
  EXPECT_EQ(framing_of({.lengths = 1, .encodings = 1, .encoding = "chunked"}), 400U);
  EXPECT_EQ(framing_of({.lengths = 1, .encodings = 1, .encoding = "gzip"}), 400U);
  EXPECT_EQ(framing_of({.version = 10, .encodings = 1, .encoding = "chunked"}), 400U);
  EXPECT_EQ(framing_of({.encodings = 2, .encoding = "chunked"}), 501U);
  for (const char* encoding : {"xchunked", "gzip", "gzip, chunked", "chunked, gzip", "identity",
                               "chunked;q=1", "", "chunked,"}) {
    EXPECT_EQ(framing_of({.encodings = 1, .encoding = encoding}), 501U) << encoding;
  }
}

TEST(HostRules, OnTheLoopbackOnlyItsOwnNames) {
  const HostRules rules;
  for (const char* host : {"localhost", "LocalHost:8080", "localhost.", "127.0.0.1", "127.0.0.1:1",
                           "127.1.2.3", "[::1]", "[::1]:8080", "[0:0::1]", "[::ffff:127.0.0.1]"}) {
    EXPECT_EQ(status_of(rules, from(host)), 200U) << host;
  }
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                           "192.168.1.1", "[::2]", "0.0.0.0", "x", "tare.example"}) {
    EXPECT_EQ(status_of(rules, from(host)), 403U) << host;
  }
  for (const char* host : {"", ":80", "[::1", "[127.0.0.1]", "[x]", "a b", "localhost:x",
                           "localhost:65536", "localhost:80:80", "user@localhost", "a/b", "."}) {
    EXPECT_EQ(status_of(rules, from(host)), 400U) << host;
  }
  EXPECT_EQ(status_of(rules, from(std::string(256, 'a'))), 400U);
}

TEST(HostRules, ExactlyOneHostExceptOfOldClients) {
  const HostRules rules;
  EXPECT_EQ(status_of(rules, {.target = "/"}), 400U);
  EXPECT_EQ(status_of(rules, {.version = 10, .target = "/"}), 200U);
  EXPECT_EQ(status_of(rules, {.target = "/", .hosts = 2, .host = "localhost"}), 400U);
  EXPECT_EQ(status_of(rules, {.version = 10, .target = "/", .hosts = 1, .host = "x"}), 403U);
}

TEST(HostRules, AllowedNamesAndTheBoundAddress) {
  const HostRules rules(
      {.address = "127.0.0.1", .has_token = false, .allowed = {"Tare.Example.org", "b_c:8080"}});
  EXPECT_EQ(status_of(rules, from("tare.example.ORG:9000")), 200U);
  EXPECT_EQ(status_of(rules, from("b_c")), 200U);
  EXPECT_EQ(status_of(rules, from("example.org")), 403U);
  EXPECT_THROW(HostRules({.address = "127.0.0.1", .has_token = false, .allowed = {"a b"}}), Error);
}

TEST(HostRules, OnTheNetworkAddressesAndAllowedNames) {
  const HostRules open({.address = "0.0.0.0", .has_token = false, .allowed = {"tare"}});
  for (const char* host : {"192.168.1.7:8080", "[fe80::1]", "localhost", "tare:8080"}) {
    EXPECT_EQ(status_of(open, from(host)), 200U) << host;
  }
  EXPECT_EQ(status_of(open, from("evil.example")), 403U) << "no token protects it";
  const HostRules with_token({.address = "::", .has_token = true, .allowed = {}});
  EXPECT_EQ(status_of(with_token, from("any.example")), 200U);
  const HostRules local({.address = "::1", .has_token = true, .allowed = {}});
  EXPECT_EQ(status_of(local, from("any.example")), 403U);
}

TEST(HostRules, AFullTargetIsAHost) {
  const HostRules rules;
  EXPECT_EQ(status_of(rules, {.target = "http://localhost/livez", .hosts = 1, .host = "localhost"}),
            200U);
  EXPECT_EQ(status_of(rules, {.target = "http://evil.example/", .hosts = 1, .host = "localhost"}),
            403U);
}

TEST(HostRules, OriginIsTheHostOrAllowed) {
  const HostRules rules({.address = "127.0.0.1", .has_token = false, .allowed = {"tare.example"}});
  const auto origin = [&](std::string_view host, std::string_view text, std::size_t count = 1) {
    RequestHead head = from(host);
    head.origins = count;
    head.origin = text;
    return status_of(rules, head);
  };
  EXPECT_EQ(origin("localhost:8080", "http://localhost:8080"), 200U);
  EXPECT_EQ(origin("localhost", "http://localhost"), 200U);
  EXPECT_EQ(origin("[::1]:8080", "http://[::1]:8080"), 200U);
  EXPECT_EQ(origin("127.0.0.1:8080", "https://tare.example"), 200U) << "a proxy that sets Host";
  EXPECT_EQ(origin("localhost:8080", "http://localhost:3000"), 403U) << "another local service";
  EXPECT_EQ(origin("localhost:8080", "http://127.0.0.1:8080"), 403U);
  EXPECT_EQ(origin("localhost:8080", "http://evil.example"), 403U);
  EXPECT_EQ(origin("localhost:8080", "null"), 403U);
  EXPECT_EQ(origin("localhost:8080", ""), 403U);
  EXPECT_EQ(origin("localhost:8080", "file://"), 403U);
  EXPECT_EQ(origin("localhost:8080", "http://localhost:8080", 2), 403U);
}

}  // namespace
}  // namespace tare::serve
