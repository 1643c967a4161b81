// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tare/base/matrix.h"

namespace tare {

/// Queries in an order in which neighbours follow each other, cut into groups that lie in a small
/// box: what a group finds around it is found once for all its queries.
struct QueryGroups {
  struct Group {
    std::uint32_t first = 0;  // in `order`
    std::uint32_t last = 0;   // one past
  };
  std::vector<std::uint32_t> order;  // rows of the queries
  std::vector<Group> groups;
};

/// Groups for windows of a radius. A group's box of diagonal b times the radius has about (1 +
/// b/3)^d times the rows around it that one query has. Finding and sorting them is shared by the
/// group's queries, testing them is not, at about a 25th of the cost of the former: parts are
/// halved as long as that lowers the sum. Queries far from all others are thus groups of one.
QueryGroups group_queries(MatrixView queries, double radius);

/// The smallest box around some rows of `queries`.
void bounding_box(MatrixView queries, std::span<const std::uint32_t> rows, std::vector<double>& low,
                  std::vector<double>& high);

}  // namespace tare
