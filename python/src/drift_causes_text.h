// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "online/drift/drift_causes.h"

namespace tare::python {

/// "period from 0.2 to 0.4", as `tare track` writes it.
inline std::string drift_cause_text(const DriftCause& cause,
                                    const std::vector<std::string>& names) {
  const std::string& name = names[cause.feature % names.size()];
  if (cause.low == cause.high) return fmt::format("{} = {:.6g}", name, cause.low);
  return fmt::format("{} from {:.6g} to {:.6g}", name, cause.low, cause.high);
}

}  // namespace tare::python
