// SPDX-License-Identifier: BSD-3-Clause
// Limits of one request, each just below and just above, without sockets.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>

#include "io/temp_folder.h"
#include "serve/http/time_limit.h"
#include "serve/service.h"
#include "small_model.h"

namespace tare::serve {
namespace {

class RequestLimits : public testing::Test {
 protected:
  RequestLimits() { observations_.start_model(1); }

  static std::string saved(const std::string& path) {
    save_model(path, small_model());
    return path;
  }

  Reply send(std::string_view kind, const std::string& body,
             const std::string& target = "/v1/predict", TimeLimit time = TimeLimit()) {
    Request request;
    request.method = "POST";
    request.target = target;
    request.content_type = kind;
    request.id = "test";
    request.body = body;
    request.time = time;
    return service_.handle(request);
  }

  TempFolder folder_;
  ModelHolder models_{saved(folder_ / "m.tare")};
  Observations observations_{{.level = 0.9, .window = 50, .remembered = 100, .prefix = "ab"}};
  Metrics metrics_;
  Limits limits_;
  Service service_{models_, observations_, metrics_, limits_, ""};
};

constexpr std::string_view kCsv = "text/csv";
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kNdjson = "application/x-ndjson";

std::string csv_with_columns(int count, char delimiter = ',') {
  std::string head = "a";
  std::string row = "1";
  for (int i = 1; i < count; ++i) {
    (head += delimiter) += i == 1 ? "c" : "x" + std::to_string(i);
    (row += delimiter) += i == 1 ? "u" : "2";
  }
  return head + "\n" + row + "\n";
}

std::string row_with_columns(int count) {
  std::string row = R"({"a":1,"c":"u")";
  for (int i = 2; i < count; ++i) row += ",\"x" + std::to_string(i) + "\":2";
  return row + "}";
}

TEST_F(RequestLimits, ColumnsOfAHeaderOrARow) {
  limits_.columns = 10;
  for (const char delimiter : {',', ';', '\t', '|'}) {
    EXPECT_EQ(send(kCsv, csv_with_columns(10, delimiter)).status, 200U) << delimiter;
    EXPECT_EQ(send(kCsv, csv_with_columns(11, delimiter)).status, 413U) << delimiter;
    EXPECT_EQ(send(kCsv, "\n\r\n" + csv_with_columns(11, delimiter)).status, 413U) << delimiter;
  }
  const std::string quoted = "a,c,\"x,x,x,x,x,x,x,x,x,x,x,x\"\n1,u,2\n";
  EXPECT_EQ(send(kCsv, quoted).status, 200U) << "commas within quotes make no column";
  EXPECT_EQ(send(kJson, "{\"rows\":[" + row_with_columns(10) + "]}").status, 200U);
  EXPECT_EQ(send(kJson, "{\"rows\":[" + row_with_columns(11) + "]}").status, 413U);
  EXPECT_EQ(send(kNdjson, row_with_columns(10) + "\n" + row_with_columns(10)).status, 200U);
  EXPECT_EQ(send(kNdjson, row_with_columns(10) + "\n" + row_with_columns(11)).status, 413U);
  EXPECT_EQ(send(kCsv, csv_with_columns(11), "/v1/observe").status, 413U);
}

TEST_F(RequestLimits, EntriesOfATableOfCosts) {
  limits_.costs = 3;
  const auto with = [](const char* list) {
    return fmt::format(R"({{"cost":{{"action":{0},"outcome":{0},"cost":{0}}},"rows":[{1}]}})", list,
                       row_with_columns(2));
  };
  EXPECT_EQ(send(kJson, with("[1,2,3]")).status, 200U);
  const Reply refused = send(kJson, with("[1,2,3,4]"));
  EXPECT_EQ(refused.status, 413U);
  EXPECT_NE(refused.body.find("more than 3 entries"), std::string::npos) << refused.body;
}

TEST_F(RequestLimits, MillionsOfColumnsAreRefusedAtOnce) {
  const std::string body = "a,c" + std::string(16'000'000, ',') + "\n1,u\n";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(send(kCsv, body).status, 413U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST_F(RequestLimits, NumbersThatRowsBecomeForTheModel) {
  // One column for the number, and one for each of the two categories.
  ASSERT_EQ(models_.now()->model->cells_per_row(), 3U);
  limits_.input_cells = 6;
  EXPECT_EQ(send(kCsv, "a,c\n1,u\n1,v\n").status, 200U);
  const Reply refused = send(kCsv, "a,c\n1,u\n1,v\n1,u\n");
  EXPECT_EQ(refused.status, 413U);
  EXPECT_NE(refused.body.find("3 rows become 3 numbers each"), std::string::npos) << refused.body;
  EXPECT_EQ(send(kCsv, "a,c,y\n1,u,1\n1,v,1\n1,u,1\n", "/v1/observe").status, 413U);
  EXPECT_EQ(send(kNdjson,
                 "{\"a\":1,\"c\":\"u\",\"y\":1}\n{\"a\":1,\"c\":\"u\",\"y\":1}\n"
                 "{\"a\":1,\"c\":\"u\",\"y\":1}\n",
                 "/v1/observe")
                .status,
            413U);
}

TEST_F(RequestLimits, CellsThatAreCopied) {
  limits_.input_cells = 9;
  EXPECT_EQ(send(kCsv, "a,c,d,e\n1,u,7,8\n1,u,7,8\n", "/v1/predict?keep=all").status, 200U);
  const Reply refused = send(kCsv, "a,c,d,e\n1,u,7,8\n1,u,7,8\n1,u,7,8\n", "/v1/predict?keep=all");
  EXPECT_EQ(refused.status, 413U);
  EXPECT_NE(refused.body.find("copy"), std::string::npos) << refused.body;
}

TEST_F(RequestLimits, TimeEndsEveryPartOfTheWork) {
  const TimeLimit over(Clock::now() - std::chrono::seconds(1));
  std::string rows;
  for (int i = 0; i < 2'000; ++i) rows += "{\"a\":1,\"c\":\"u\"}\n";
  EXPECT_EQ(send(kNdjson, rows, "/v1/predict", over).status, 503U);
  EXPECT_EQ(send(kJson, "{\"rows\":[" + row_with_columns(2'000) + "]}", "/v1/predict", over).status,
            503U);
  EXPECT_EQ(send(kCsv, "a,c\n1,u\n", "/v1/predict", over).status, 503U);
  std::atomic<bool> stop = true;
  EXPECT_EQ(send(kCsv, "a,c\n1,u\n", "/v1/predict", TimeLimit(no_deadline(), &stop)).status, 503U);
  stop = false;
  EXPECT_EQ(send(kCsv, "a,c\n1,u\n", "/v1/predict", TimeLimit(no_deadline(), &stop)).status, 200U);
}

TEST_F(RequestLimits, ALongNameIsNotComparedWithLongNames) {
  // The product of their lengths is 10^10: without a limit this takes a minute.
  std::string head = "a,c";
  for (int i = 0; i < 1'000; ++i) {
    (head += ',') += std::to_string(i) + std::string(1'000, 'y');
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(send(kCsv, head + "\n", "/v1/predict?keep=" + std::string(10'000, 'z')).status, 400U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST_F(RequestLimits, TheSchemeOfATokenHasNoCase) {
  Service guarded(models_, observations_, metrics_, limits_, "secret");
  const auto status = [&](std::string authorization) {
    Request request;
    request.method = "GET";
    request.target = "/v1/model";
    request.authorization = std::move(authorization);
    return guarded.handle(request).status;
  };
  for (const char* good : {"Bearer secret", "bearer secret", "BEARER secret", "Bearer   secret"}) {
    EXPECT_EQ(status(good), 200U) << good;
  }
  for (const char* bad : {"", "secret", "Bearer", "Bearer ", "Bearer Secret", "Bearer secre",
                          "Bearer secrett", "Basic secret", "Bearer secret x", "Bearersecret"}) {
    EXPECT_EQ(status(bad), 401U) << bad;
  }
}

TEST_F(RequestLimits, WhatIsRefusedBeforeTheBody) {
  Service guarded(models_, observations_, metrics_, limits_, "secret");
  const auto status = [&](std::string method, std::string target, std::string authorization) {
    Request request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.authorization = std::move(authorization);
    const auto refused = guarded.refuse_early(request);
    return refused ? refused->status : 200U;
  };
  EXPECT_EQ(status("POST", "/v1/predict", "Bearer secret"), 200U);
  EXPECT_EQ(status("POST", "/v1/predict?levels=0.5", ""), 401U);
  EXPECT_EQ(status("POST", "/nope", "Bearer secret"), 404U);
  EXPECT_EQ(status("DELETE", "/v1/predict", "Bearer secret"), 405U);
  EXPECT_EQ(status("GET", "/livez", ""), 200U);
}

}  // namespace
}  // namespace tare::serve
