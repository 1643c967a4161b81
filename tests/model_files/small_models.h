// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tare/io/table.h"

namespace tare {

/// A model to forge, fitted in moments, and rows to ask it about.
struct SmallModel {
  std::string name;
  std::vector<std::byte> bytes;  // its file
  Table rows;
};

/// One of each method, and models with everything that can be around or in front of one: a
/// guarantee by split, by folds, within groups, under a shift, local and conditional, bands,
/// bounds, masses, given predictions of each form, windows, categories, weights.
const std::vector<std::string>& small_model_names();
SmallModel small_model(const std::string& name);

}  // namespace tare
