// SPDX-License-Identifier: BSD-3-Clause
#include "serve/monitor/metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "serve/http/routes.h"

namespace tare::serve {
namespace {

std::string_view route_name(std::size_t route) {
  return route < routes().size() ? routes()[route].path : "other";
}

void append_head(std::string& out, const char* name, const char* type, const char* help) {
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

}  // namespace

void append_metric(std::string& out, const char* name, const char* type, const char* help,
                   double value) {
  append_head(out, name, type, help);
  out += fmt::format("{} {}\n", name, value);
}

Metrics::Metrics() : routes_(routes().size() + 1) {}

void Metrics::count_request(std::size_t route, unsigned status, double seconds, std::size_t rows) {
  RouteCounts& counts = routes_[std::min(route, routes().size())];
  const auto known = std::ranges::find(kStatuses, status) - kStatuses.begin();
  counts.by_status[static_cast<std::size_t>(known)].fetch_add(1, std::memory_order_relaxed);
  const auto bound = std::ranges::lower_bound(kBounds, seconds) - kBounds.begin();
  counts.by_time[static_cast<std::size_t>(bound)].fetch_add(1, std::memory_order_relaxed);
  counts.microseconds.fetch_add(static_cast<std::uint64_t>(seconds * 1e6),
                                std::memory_order_relaxed);
  rows_.fetch_add(rows, std::memory_order_relaxed);
}

void Metrics::append_requests(std::string& out) const {
  append_head(out, "tare_requests_total", "counter", "Requests answered, by path and status.");
  for (std::size_t r = 0; r < routes_.size(); ++r) {
    for (std::size_t s = 0; s <= kStatuses.size(); ++s) {
      const std::uint64_t count = routes_[r].by_status[s].load(std::memory_order_relaxed);
      if (count == 0) continue;
      const std::string status =
          s < kStatuses.size() ? std::to_string(kStatuses[s]) : std::string("other");
      out += fmt::format("tare_requests_total{{path=\"{}\",status=\"{}\"}} {}\n", route_name(r),
                         status, count);
    }
  }
}

void Metrics::append_times(std::string& out) const {
  append_head(out, "tare_request_seconds", "histogram",
              "Time from the last byte of a request to its answer, by path.");
  for (std::size_t r = 0; r < routes_.size(); ++r) {
    std::uint64_t sum = 0;
    std::string lines;
    for (std::size_t b = 0; b <= kBounds.size(); ++b) {
      sum += routes_[r].by_time[b].load(std::memory_order_relaxed);
      const std::string bound = b < kBounds.size() ? fmt::format("{}", kBounds[b]) : "+Inf";
      lines += fmt::format("tare_request_seconds_bucket{{path=\"{}\",le=\"{}\"}} {}\n",
                           route_name(r), bound, sum);
    }
    if (sum == 0) continue;
    const double seconds =
        static_cast<double>(routes_[r].microseconds.load(std::memory_order_relaxed)) * 1e-6;
    out += lines;
    out += fmt::format("tare_request_seconds_sum{{path=\"{}\"}} {}\n", route_name(r), seconds);
    out += fmt::format("tare_request_seconds_count{{path=\"{}\"}} {}\n", route_name(r), sum);
  }
}

std::string Metrics::text(const std::string& more) const {
  std::string out;
  append_requests(out);
  append_times(out);
  const auto add = [&](const char* name, const char* type, const char* help,
                       const std::atomic<std::uint64_t>& value) {
    append_metric(out, name, type, help, static_cast<double>(value.load()));
  };
  add("tare_rows_total", "counter", "Rows predicted or observed.", rows_);
  add("tare_connections", "gauge", "Connections open now.", connections);
  add("tare_connections_total", "counter", "Connections accepted.", connections_total);
  add("tare_connections_refused_total", "counter", "Connections above the limit.",
      connections_refused);
  add("tare_requests_in_flight", "gauge", "Requests in progress.", requests_in_flight);
  add("tare_batches_waiting", "gauge", "Large requests that wait for a worker.", batches_waiting);
  add("tare_body_bytes_buffered", "gauge", "Bytes of bodies in memory.", body_bytes_buffered);
  add("tare_answer_bytes_held", "gauge", "Bytes of large answers that clients have not read yet.",
      answer_bytes_held);
  append_head(out, "tare_reloads_total", "counter", "Attempts to reload the model file.");
  for (const auto& [result, value] :
       {std::pair("switched", &reloads_switched), std::pair("same", &reloads_same),
        std::pair("refused", &reloads_refused)}) {
    out += fmt::format("tare_reloads_total{{result=\"{}\"}} {}\n", result, value->load());
  }
  return out + more;
}

}  // namespace tare::serve
