// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>

#include "serve/http/limits.h"
#include "serve/http/message.h"
#include "serve/http/query.h"
#include "serve/http/routes.h"
#include "serve/model/model_holder.h"
#include "serve/monitor/metrics.h"
#include "serve/monitor/observations.h"
#include "serve/online/online_teacher.h"

namespace tare::serve {

/// Turns a request into a reply, without sockets. Thread-safe.
class Service {
 public:
  /// An empty token means that none is required. Without a teacher no model learns. The other
  /// arguments must outlive this object.
  Service(const ModelHolder& models, Observations& observations, Metrics& metrics,
          const Limits& limits, std::string token, OnlineTeacher* teacher = nullptr);

  /// Never throws: an error becomes a reply.
  Reply handle(const Request& request) noexcept;

  /// The refusal of a request whose head alone is known: its path, method or token is wrong. Such a
  /// request's body need not be read.
  std::optional<Reply> refuse_early(const Request& request) noexcept;

  /// Whether the path and method take a body.
  static bool takes_body(const Request& request) noexcept;

  /// Whether a request may take long enough to delay others, by its size and the recent time of
  /// small requests.
  bool may_take_long(const Request& request) const noexcept;

  /// From now on /readyz answers 503.
  void stop() noexcept { stopping_ = true; }

 private:
  Reply route_request(const Request& request, std::size_t& route);
  const Route& find(const Request& request, std::size_t& route) const;
  template <class Work>
  Reply reply_of(const Request& request, Work&& work) noexcept;
  Reply act(const Route& route, const Request& request, const Target& target);
  Reply predict(const Request& request, const Target& target);
  Reply observe(const Request& request, const Target& target);
  Reply ready() const;
  std::uint32_t lineage() const;
  Reply metrics_text() const;
  void check_token(const Request& request) const;

  const ModelHolder& models_;
  Observations& observations_;
  Metrics& metrics_;
  const Limits& limits_;
  std::string token_;
  OnlineTeacher* teacher_;
  std::atomic<bool> stopping_ = false;
  std::atomic<double> small_seconds_ = 0.0;  // that small predictions take, lately
};

}  // namespace tare::serve
