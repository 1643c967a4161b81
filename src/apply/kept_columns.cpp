// SPDX-License-Identifier: BSD-3-Clause
#include "apply/kept_columns.h"

#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/fail.h"
#include "base/strings.h"
#include "io/table_place.h"

namespace tare {

std::vector<std::string> kept_columns(const std::string& source,
                                      const std::vector<std::string>& header,
                                      const std::vector<std::string>& named) {
  const std::unordered_set<std::string_view> there(header.begin(), header.end());
  if (named.size() == 1 && named.front() == "all" && !there.contains("all")) return header;
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : named) {
    if (!there.contains(name)) {
      const auto near = closest_names(name, header);
      ErrorDetails details = no_column(source, name);
      details.option = "keep";
      details.value = name;
      if (!near.empty()) {
        details.remedies.push_back(advice(fmt::format("did you mean {}?", join(near, " or "))));
      }
      details.remedies.push_back(use("keep", "all", "to keep every one"));
      fail(ErrorCode::kNotFound, std::move(details), "has no column '{}' to keep", name);
    }
    if (!seen.insert(name).second) {
      fail(ErrorCode::kInvalidArgument,
           {.option = "keep", .value = name, .remedies = {advice("once is enough")}},
           "names '{}' twice", name);
    }
  }
  return named;
}

void keep_raw(const std::vector<std::string>& header, const std::vector<std::string>& kept,
              std::vector<ColumnRequest>& requests) {
  const std::unordered_set<std::string_view> names(kept.begin(), kept.end());
  for (std::size_t j = 0; j < header.size(); ++j) {
    requests[j].raw = requests[j].raw || names.contains(header[j]);
  }
}

}  // namespace tare
