// SPDX-License-Identifier: BSD-3-Clause
// Requests that nobody in his right mind would send: whatever the bytes, the answer is a right one
// or a refusal, and never a crash, a wrong number or an error of the service's own.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "draws.h"
#include "io/temp_folder.h"
#include "serve/service.h"
#include "small_model.h"
#include "tare/base/rng.h"

namespace tare::serve {
namespace {

constexpr std::array<std::string_view, 34> kPieces = {
    "{",     "}",       "[",      "]",     ",",      ":",         "\"",       "\\",   "null",
    "true",  "NaN",     "-",      "1e999", "1e-999", "0.5",       "\n",       "\r\n", "\"rows\"",
    "\"a\"", "\"c\"",   "levels", "\"u\"", "a,c\n",  "\"\\u0000", "\xFF\xFE", "\xC3", " ",
    "[[[[[", "{\"a\":", "1,u\n",  ";",     "-0",     "'",         "\\ud800"};

std::string mutated(std::string text, Rng& rng) {
  const std::uint64_t changes = 1 + rng.below(4);
  for (std::uint64_t k = 0; k < changes; ++k) {
    const std::size_t at = rng.below(text.size() + 1);
    switch (rng.below(5)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(rng.below(256));
        break;
      case 1:
        text.insert(at, kPieces[rng.below(kPieces.size())]);
        break;
      case 2:
        text.erase(at, 1 + rng.below(8));
        break;
      case 3:
        text.resize(at);
        break;
      default:  // a part once more, somewhere else
        text.insert(at, text.substr(rng.below(text.size() + 1), rng.below(20)));
    }
  }
  return text;
}

struct Seeds {
  std::string_view content_type;
  std::vector<std::string> bodies;
};

const std::vector<Seeds>& seeds() {
  static const std::vector<Seeds> kSeeds = {
      {"application/json",
       {R"({"rows":[{"a":1,"c":"u"},{"a":2.5,"c":"v"}],"levels":[0.1,0.9]})",
        R"({"interval":0.9,"rows":[{"c":"u","a":-1e3,"x":null}],"diagnostics":true})",
        R"({"cost":{"over":1,"under":4},"rows":[{"a":1,"c":"u"}]})",
        R"({"cost":{"action":[1,2],"outcome":[0,5],"cost":[3,-1e2]},"rows":[{"a":1,"c":"u"}]})",
        R"({"rows":[{"a":1,"c":"u","y":3}]})", R"({"ids":["ab-0","x"],"targets":[1,2]})"}},
      {"application/x-ndjson",
       {"{\"a\":1,\"c\":\"u\"}\n{\"a\":2,\"c\":\"v\"}\n", "{\"a\":1,\"c\":\"u\",\"y\":1}"}},
      {"text/csv", {"a,c\n1,u\n2,v\n", "y,c,a\n1,\"u\",2\n", "a;c\r\n1;u\r\n"}}};
  return kSeeds;
}

class Fuzz : public testing::Test {
 protected:
  Fuzz() {
    observations_.start_model(1);
    limits_.rows = 50;
    limits_.levels = 20;
    limits_.costs = 5;
  }

  static std::string saved(const std::string& path) {
    save_model(path, small_model());
    return path;
  }

  /// Sends a body and checks what comes back by itself.
  Reply send(const std::string& target, std::string_view content_type, const std::string& body) {
    const Request request{.method = "POST",
                          .target = target,
                          .content_type = std::string(content_type),
                          .authorization = "",
                          .id = "fuzz",
                          .body = body};
    Reply reply = service_.handle(request);
    static const std::set<unsigned> kFine = {200, 400, 404, 405, 413, 415, 422};
    EXPECT_TRUE(kFine.contains(reply.status)) << reply.status << " " << reply.body << "\n" << body;
    if (reply.status != 200) {
      const auto problem = nlohmann::json::parse(reply.body);
      EXPECT_EQ(problem["status"], reply.status);
      EXPECT_FALSE(problem["detail"].get<std::string>().empty());
    }
    return reply;
  }

  TempFolder folder_;
  ModelHolder models_{saved(folder_ / "m.tare")};
  Observations observations_{{.level = 0.9, .window = 50, .remembered = 100, .prefix = "ab"}};
  Metrics metrics_;
  Limits limits_;
  Service service_{models_, observations_, metrics_, limits_, ""};
};

/// A second reading of the body by another parser: the rows that an accepted request must have had.
std::size_t rows_by_oracle(std::string_view content_type, const std::string& body) {
  if (content_type == "application/json") return nlohmann::json::parse(body).at("rows").size();
  std::size_t rows = 0;
  for (const std::string& line : split_text(body, '\n')) {
    if (trim(line).empty()) continue;
    EXPECT_TRUE(nlohmann::json::parse(line).is_object());
    ++rows;
  }
  return rows;
}

TEST_F(Fuzz, PredictAnswersOrRefuses) {
  Rng rng(Seed{11});
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (std::uint64_t i = 0; i < draws(40'000); ++i) {
    const Seeds& kind = seeds()[rng.below(seeds().size())];
    const std::string body = mutated(kind.bodies[rng.below(kind.bodies.size())], rng);
    const Reply reply = send("/v1/predict", kind.content_type, body);
    (reply.status == 200 ? accepted : refused)++;
    if (reply.status != 200 || kind.content_type == "text/csv") continue;
    EXPECT_EQ(reply.rows, rows_by_oracle(kind.content_type, body)) << body;
    if (kind.content_type != "application/json") continue;
    const auto answer = nlohmann::json::parse(reply.body);
    for (const auto& row : answer["rows"]) {
      for (const auto& value : row)
        EXPECT_TRUE(value.is_number() || value.is_boolean() || value.is_null());
    }
  }
  EXPECT_GT(accepted, draws(1'500)) << "mutations that are too wild test nothing";
  EXPECT_GT(refused, draws(10'000));
}

TEST_F(Fuzz, ObserveCountsOrRefuses) {
  Rng rng(Seed{12});
  for (std::uint64_t i = 0; i < draws(20'000); ++i) {
    const Seeds& kind = seeds()[rng.below(seeds().size())];
    const std::string body = mutated(kind.bodies[rng.below(kind.bodies.size())], rng);
    const Reply reply = send("/v1/observe", kind.content_type, body);
    if (reply.status != 200) continue;
    const auto answer = nlohmann::json::parse(reply.body);
    EXPECT_EQ(answer["counted"], reply.rows);
  }
}

TEST_F(Fuzz, AddressesAndContentTypes) {
  Rng rng(Seed{13});
  const std::string body = R"({"rows":[{"a":1,"c":"u"}]})";
  for (std::uint64_t i = 0; i < draws(20'000); ++i) {
    const std::string target =
        mutated("/v1/predict?levels=0.1%2C0.5&interval=0.9&diagnostics=true", rng);
    const std::string kind =
        rng.below(4) == 0 ? mutated("application/json", rng) : "application/json";
    send(target, kind, body);
  }
}

TEST_F(Fuzz, DeepNestingIsRefusedWithoutAStack) {
  for (const std::string& open :
       {std::string("["), std::string("{\"a\":"), std::string("{\"rows\":[")}) {
    std::string body = "{\"rows\":[{\"a\":";
    while (body.size() < (std::size_t{4} << 20)) body += open;
    const Reply reply = send("/v1/predict", "application/json", body);
    EXPECT_TRUE(reply.status == 400 || reply.status == 422);
  }
}

TEST_F(Fuzz, ManyRowsAndManyLevelsAreTooLarge) {
  std::string rows;
  for (int i = 0; i < 51; ++i) rows += (i > 0 ? "," : "") + std::string(R"({"a":1,"c":"u"})");
  EXPECT_EQ(send("/v1/predict", "application/json", "{\"rows\":[" + rows + "]}").status, 413U);
  std::string csv = "a,c\n";
  for (int i = 0; i < 51; ++i) csv += "1,u\n";
  EXPECT_EQ(send("/v1/predict", "text/csv", csv).status, 413U);
  std::string levels = "0.5";
  for (int i = 1; i < 21; ++i) levels += ",0.0" + std::to_string(10 + i);
  EXPECT_EQ(send("/v1/predict?levels=" + levels, "text/csv", "a,c\n1,u\n").status, 413U);
  limits_.cells = 5;
  EXPECT_EQ(send("/v1/predict", "text/csv", "a,c\n1,u\n1,u\n").status, 413U);
}

}  // namespace
}  // namespace tare::serve
