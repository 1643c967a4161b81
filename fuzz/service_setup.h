// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "io/temp_folder.h"
#include "serve/http/limits.h"
#include "serve/model/model_holder.h"
#include "serve/monitor/metrics.h"
#include "serve/monitor/observations.h"
#include "serve/online/online_teacher.h"
#include "serve/service.h"
#include "small_models.h"

namespace tare::fuzz {

/// A service on a model, without sockets, with limits that small inputs reach.
struct ServiceSetup {
  explicit ServiceSetup(const FittedModel& fitted, std::string token = {})
      : models(saved(folder / "m.tare", fitted)),
        teacher({.remembered = 100}, *models.now()->model),
        service(models, observations, metrics, limits, std::move(token), &teacher) {
    observations.start_model(1);
  }

  static serve::Limits small_limits() {
    serve::Limits small;
    small.rows = 20;
    small.levels = 10;
    small.cells = 100;
    small.columns = 30;
    small.input_cells = 200;
    small.unused_body_bytes = 256;
    small.body_bytes = 4096;
    small.header_bytes = 2048;
    small.request_time =
        std::chrono::hours(1);  // the fuzzer itself may have to wait for the machine
    return small;
  }

  static std::string saved(const std::string& path, const FittedModel& fitted) {
    save_model(path, fitted);
    return path;
  }

  TempFolder folder;
  serve::ModelHolder models;
  serve::Observations observations{{.level = 0.9, .window = 50, .remembered = 100, .prefix = "ab"}};
  serve::Metrics metrics;
  serve::Limits limits = small_limits();
  serve::OnlineTeacher teacher;
  serve::Service service;
};

}  // namespace tare::fuzz
