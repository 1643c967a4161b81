// SPDX-License-Identifier: BSD-3-Clause
#include "apply/kept_columns.h"

#include <unordered_set>

#include "base/fail.h"
#include "base/strings.h"

namespace tare {

std::vector<std::string> kept_columns(const std::string& source,
                                      const std::vector<std::string>& header,
                                      const std::vector<std::string>& named,
                                      const KeepWords& words) {
  const std::unordered_set<std::string_view> there(header.begin(), header.end());
  if (named.size() == 1 && named.front() == "all" && !there.contains("all")) return header;
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : named) {
    if (!there.contains(name)) {
      const auto near = closest_names(name, header);
      fail(ErrorCode::kNotFound, "{}: has no column '{}' to keep ({})", source, name,
           near.empty()
               ? fmt::format("{} keeps every one there is", words.all)
               : fmt::format("did you mean {}? {} keeps every one", join(near, " or "), words.all));
    }
    if (!seen.insert(name).second) {
      fail(ErrorCode::kInvalidArgument, "{}: '{}' is there twice (once is enough)", words.list,
           name);
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
