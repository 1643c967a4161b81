// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tare/base/export.h"
#include "tare/base/params.h"
#include "tare/base/rng.h"
#include "tare/base/version.h"
#include "tare/calibrate/quantile_model.h"

namespace TARE_PUBLIC tare {

class Schema;

/// A fitted model with what is needed to use it elsewhere: one file of it is enough to predict on
/// another machine.
struct FittedModel {
  std::string method;
  Params params;  // as the user gave them
  Seed seed;
  std::size_t rows = 0;  // it was fitted on
  std::shared_ptr<const QuantileModel> model;
  std::shared_ptr<const Schema> schema;  // names and types of the input columns; null: x0, x1, ...
  std::string tare_version{kVersion};    // that wrote the file; of a new model this one
};

/// Writes a safetensors file, whole or not at all. Throws kInvalidArgument where the file exists
/// and `replace` is kKeep, kIo where the system refuses. The bytes depend on the model alone.
enum class Replace { kKeep, kReplace };
void save_model(const std::string& path, const FittedModel& fitted,
                Replace replace = Replace::kKeep);

/// The bytes that save_model writes.
std::vector<std::byte> save_model_to_memory(const FittedModel& fitted);

/// Maps the file and checks every length and the checksum before use. Throws kNotFound,
/// kCorruptFile (not a model file, truncated, a byte changed, from a newer format).
FittedModel load_model(const std::string& path);
/// The same from bytes, which the model keeps; `name` takes the place of a path in messages.
FittedModel load_model_from_memory(std::vector<std::byte> bytes, const std::string& name = "model");

}  // namespace tare
