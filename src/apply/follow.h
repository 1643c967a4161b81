// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/online/online_model.h"
#include "tare/base/error.h"
#include "tare/io/table.h"

namespace tare {

/// The targets of a table's rows: NaN where there is none. Throws kNotFound and kBadData.
std::vector<double> targets_of(const Table& table, const std::string& target,
                               std::span<const std::size_t> rows);

/// Goes through rows in time order: each is answered, and learned once `delay` others have been
/// answered after it. Rows without a target are passed over, those at the end left alone.
/// `answered` gets each row with its number, `learned` the number of a row whose target was
/// learned, `place` says where the target of a row stands, for an error.
struct Follower {
  std::function<void(std::size_t, const PendingRow&)> answered;
  std::function<void(std::size_t)> learned;
  std::function<ErrorDetails(std::size_t)> place;
};
/// Returns the number of learned rows. Throws kBadData for a target whose difference from its
/// prediction is too large for a number.
std::size_t follow(OnlineModel& model, const Rows& rows, std::span<const double> targets,
                   const Follower& follower, const Execution& how);

/// The first rows of a table, as if the others were not known: its categories, too.
Table first_rows(const Table& table, std::size_t count);

}  // namespace tare
