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

/// A fitted model with everything that prediction needs. Its file is enough to predict on another
/// machine.
struct FittedModel {
  std::string method;
  Params params;  // as the user gave them
  Seed seed;
  std::size_t rows = 0;  // it was fitted on
  std::shared_ptr<const QuantileModel> model;
  std::shared_ptr<const Schema> schema;  // names and types of the input columns; null: x0, x1, ...
  std::string tare_version{kVersion};    // that wrote the file; for a new model the current version
};

/// Writes a safetensors file, completely or not at all. Throws kInvalidArgument if the file exists
/// and `replace` is kKeep, kIo if the file cannot be written. The bytes depend only on the model.
enum class Replace { kKeep, kReplace };
void save_model(const std::string& path, const FittedModel& fitted,
                Replace replace = Replace::kKeep);

/// The bytes that save_model writes.
std::vector<std::byte> save_model_to_memory(const FittedModel& fitted);

/// Maps the file and checks every length and the checksum before use. Throws kNotFound,
/// kCorruptFile (not a model file, truncated, a byte changed, from a newer format).
FittedModel load_model(const std::string& path);
/// The same from bytes, which the model keeps. Messages use `name` as the path.
FittedModel load_model_from_memory(std::vector<std::byte> bytes, const std::string& name = "model");

}  // namespace tare
