// SPDX-License-Identifier: BSD-3-Clause
#include "serve/http/routes.h"

#include <array>

namespace tare::serve {
namespace {

constexpr std::array<std::string_view, 6> kPredictParameters = {"levels", "interval",    "set",
                                                                "cost",   "diagnostics", "keep"};
constexpr std::array<std::string_view, 1> kObserveParameters = {"id"};
constexpr std::array<Route, 16> kRoutes = {{
    {"GET", "/", Action::kFile, false, {}, "index", "text/html; charset=utf-8"},
    {"GET", "/style.css", Action::kFile, false, {}, "style", "text/css; charset=utf-8"},
    {"GET", "/app.js", Action::kFile, false, {}, "app", "text/javascript; charset=utf-8"},
    {"GET", "/controls.js", Action::kFile, false, {}, "controls", "text/javascript; charset=utf-8"},
    {"GET", "/csv.js", Action::kFile, false, {}, "csv", "text/javascript; charset=utf-8"},
    {"GET", "/figures.js", Action::kFile, false, {}, "figures", "text/javascript; charset=utf-8"},
    {"GET", "/stream.js", Action::kFile, false, {}, "stream", "text/javascript; charset=utf-8"},
    {"GET", "/icon.svg", Action::kFile, false, {}, "icon", "image/svg+xml"},
    {"GET", "/openapi.json", Action::kFile, false, {}, "openapi", "application/json"},
    {"GET", "/livez", Action::kLive, false, {}},
    {"GET", "/readyz", Action::kReady, false, {}},
    {"GET", "/metrics", Action::kMetrics, true, {}},
    {"GET", "/v1/model", Action::kModel, true, {}},
    {"GET", "/v1/coverage", Action::kCoverage, true, {}},
    {"POST", "/v1/predict", Action::kPredict, true, kPredictParameters},
    {"POST", "/v1/observe", Action::kObserve, true, kObserveParameters},
}};

}  // namespace

std::span<const Route> routes() { return kRoutes; }

std::size_t find_route(std::string_view method, std::string_view path, std::string_view& allowed) {
  std::size_t found = kNoPath;
  for (std::size_t i = 0; i < kRoutes.size(); ++i) {
    if (kRoutes[i].path != path) continue;
    if (kRoutes[i].method == method || (method == "HEAD" && kRoutes[i].method == "GET")) return i;
    allowed = kRoutes[i].method == "GET" ? "GET, HEAD" : kRoutes[i].method;
    found = kOtherMethod;
  }
  return found;
}

}  // namespace tare::serve
