// SPDX-License-Identifier: BSD-3-Clause
#include "serve/http/routes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "serve/http/embedded.h"

namespace tare::serve {
namespace {

std::string_view embedded(std::string_view name) {
  for (const EmbeddedFile& file : page_files()) {
    if (file.name == name) return file.text;
  }
  return {};
}

TEST(Routes, AreThoseOfTheOpenApiFile) {
  const auto paths = nlohmann::json::parse(embedded("openapi"))["paths"];
  std::set<std::string> in_file;
  for (const auto& [path, item] : paths.items()) {
    for (const auto& [method, operation] : item.items()) {
      std::string upper = method;
      std::ranges::transform(upper, upper.begin(),
                             [](char c) { return static_cast<char>(c - 32); });
      in_file.insert(upper + " " + path);
    }
  }
  std::set<std::string> in_code;
  for (const Route& route : routes()) {
    in_code.insert(std::string(route.method) + " " + std::string(route.path));
  }
  EXPECT_EQ(in_file, in_code);
}

TEST(Routes, FilesThatAreNamedAreBuiltIn) {
  for (const Route& route : routes()) {
    if (route.action == Action::kFile) {
      EXPECT_FALSE(embedded(route.file).empty()) << route.path;
    }
  }
}

TEST(Routes, AreFoundByMethodAndPathAsTheyStand) {
  std::string_view allowed;
  EXPECT_EQ(routes()[find_route("GET", "/livez", allowed)].action, Action::kLive);
  EXPECT_EQ(routes()[find_route("HEAD", "/livez", allowed)].action, Action::kLive);
  EXPECT_EQ(find_route("POST", "/livez", allowed), kOtherMethod);
  EXPECT_EQ(allowed, "GET, HEAD");
  EXPECT_EQ(find_route("HEAD", "/v1/predict", allowed), kOtherMethod);
  EXPECT_EQ(allowed, "POST");
  for (const std::string_view path : {"", "livez", "/livez/", "/Livez", "//livez", "/v1"}) {
    EXPECT_EQ(find_route("GET", path, allowed), kNoPath) << path;
  }
}

}  // namespace
}  // namespace tare::serve
