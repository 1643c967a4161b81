// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "io/tensor_store.h"

namespace tare {

/// One change to the contents of a model file.
struct Forgery {
  std::string name;  // what it changes and how, for messages
  std::function<void(TensorStore&)> change;
  bool is_huge = false;  // it writes a number so large that sums of products overflow
};

/// Changes of one thing each. Of every tensor: absent, under another name, cut short, empty,
/// longer, of another shape or type, and of some elements, or all: not a number, infinite,
/// negative, 0, huge, tiny, exchanged. Of every value, and of every part of it: absent, of other
/// types, negative, 0, larger, huge, nested, with a member less or one twice.
std::vector<Forgery> forgeries_of(const TensorStore& good);

}  // namespace tare
