// SPDX-License-Identifier: BSD-3-Clause
#include "support/outside_program.h"

#include <chrono>
#include <cstdint>

#include "data/external_model.h"

namespace tare::cli {

OutsideModel outside_program(const std::string& command, double timeout_s) {
  const std::chrono::milliseconds timeout(static_cast<std::int64_t>(timeout_s * 1000.0));
  return [program = ExternalModel{command, timeout}](const Table& table, const auto& features,
                                                     const auto& rows) {
    return run_external_model(program, table, features, rows);
  };
}

}  // namespace tare::cli
