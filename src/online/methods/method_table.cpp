// SPDX-License-Identifier: BSD-3-Clause
// The one list of online methods. A new method is a file pair and a row.
#include "online/methods/method_table.h"

#include <array>
#include <string>
#include <vector>

#include "base/strings.h"
#include "base/unknown_name.h"
#include "online/reference/aci.h"
#include "online/reference/dtaci.h"
#include "online/reference/eci.h"
#include "online/reference/enbpi.h"
#include "online/reference/pid.h"
#include "online/reference/tracker.h"
#include "online/reference/trailing.h"
#include "online/snq/snq_online.h"

namespace tare {

std::span<const OnlineMethodInfo> online_methods() {
  static const std::array kMethods = {
      snq_online_method(), aci_method(), dtaci_method(), tracker_method(),
      pid_method(),        eci_method(), enbpi_method(), trailing_method(),
  };
  return kMethods;
}

const OnlineMethodInfo& find_online_method(std::string_view name) {
  const std::string sought = canonical_name(name);
  std::vector<std::string> names;
  for (const OnlineMethodInfo& method : online_methods()) {
    if (method.name == sought) return method;
    names.emplace_back(method.name);
  }
  fail_unknown_name(ErrorCode::kNotFound, "online method", name, names, "method");
}

}  // namespace tare
