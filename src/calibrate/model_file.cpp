// SPDX-License-Identifier: BSD-3-Clause
#include "tare/calibrate/model_file.h"

#include <limits>
#include <map>
#include <utility>

#include "base/fail.h"
#include "calibrate/automatic/masses/mass_model.h"
#include "calibrate/bands/banded_model.h"
#include "calibrate/bounds/bounded_model.h"
#include "calibrate/guarantee/fold_given.h"
#include "calibrate/guarantee/guarantee.h"
#include "calibrate/guarantee/loose/loose_guarantee.h"
#include "calibrate/guarantee/rowwise/rowwise_guarantee.h"
#include "calibrate/online/online_model.h"
#include "calibrate/plain_schema.h"
#include "data/schema.h"
#include "io/safetensors.h"
#include "tare/base/version.h"
#include "tare/calibrate/methods.h"

namespace tare {

namespace {

/// Columns of Rows::given that the schema will fill.
std::size_t given_by(const Schema& schema) {
  return schema.predictor().empty() ? schema.given_columns().size() : 1;
}

/// The method's model, in what fit_method put around it.
std::unique_ptr<const QuantileModel> load_wrapped(const TensorReader& in, const Method& method) {
  using Loaded = std::unique_ptr<const QuantileModel>;
  const auto load_plain = [&](const TensorReader& part) -> Loaded {
    Loaded inner = method.load(part);
    return MassModel::is_in(part) ? MassModel::load(part, std::move(inner)) : std::move(inner);
  };
  const auto load_fold = [&](const TensorReader& part) {
    return load_fold_model(part, load_plain);
  };
  const auto load_whole = [&](const TensorReader& part) -> Loaded {
    if (GuaranteedModel::is_in(part)) return GuaranteedModel::load(part, load_fold);
    if (LooseGuarantee::is_in(part)) return LooseGuarantee::load(part, load_plain);
    if (RowwiseGuarantee::is_in(part)) return RowwiseGuarantee::load(part, load_plain);
    return load_plain(part);
  };
  Loaded model =
      BandedModel::is_in(in) ? BandedModel::load(in, load_whole, load_fold) : load_whole(in);
  return BoundedModel::is_in(in) ? BoundedModel::load(in, std::move(model)) : std::move(model);
}

/// A model inside an online model: all but its schema.
FittedModel load_base(const TensorReader& in) {
  FittedModel base;
  base.method = in.get<std::string>("method");
  for (const auto& [name, value] : in.get<std::map<std::string, std::string>>("params")) {
    base.params.set(name, value);
  }
  base.seed = Seed{in.count("seed", std::numeric_limits<std::uint64_t>::max())};
  base.rows = in.count("rows", std::numeric_limits<std::uint32_t>::max());
  base.model = load_wrapped(in.part("model"), find_method(base.method));
  return base;
}

TensorStore store_model(const FittedModel& fitted) {
  TensorStore store;
  const TensorWriter out(store);
  out.value("tare_version", kVersion);
  out.value("method", fitted.method);
  out.value("params", fitted.params.all());
  out.value("seed", fitted.seed.value);
  out.value("rows", fitted.rows);
  out.value("schema", (fitted.schema ? *fitted.schema : plain_schema(*fitted.model)).to_json());
  fitted.model->save(out.part("model"));
  return store;
}

/// Features that any file may have, whatever its own size: a window of 10,000 rows of 100 columns.
/// A window multiplies the columns that a file names, and each row to predict takes memory for all.
constexpr std::size_t kAlwaysFeatures = std::size_t{1} << 20;

void check_width(const Schema& schema, const TensorStore& store) {
  std::size_t most = kAlwaysFeatures;
  for (const auto& [name, tensor] : store.tensors) most += tensor.bytes.size();
  if (schema.width() > most / schema.window()) {
    fail(ErrorCode::kCorruptFile, "a window of {} rows with {} features is too large for the file",
         schema.window(), schema.width());
  }
}

FittedModel model_in(const TensorStore& store, const std::string& path) {
  try {
    const TensorReader in(store);
    FittedModel fitted;
    fitted.method = in.get<std::string>("method");
    for (const auto& [name, value] : in.get<std::map<std::string, std::string>>("params")) {
      fitted.params.set(name, value);
    }
    fitted.tare_version =
        in.has_value("tare_version") ? in.get<std::string>("tare_version") : "unknown";
    fitted.seed = Seed{in.count("seed", std::numeric_limits<std::uint64_t>::max())};
    fitted.rows = in.count("rows", std::numeric_limits<std::uint32_t>::max());
    auto schema = std::make_shared<const Schema>(Schema::from_json(in.value("schema")));
    check_width(*schema, store);
    const TensorReader part = in.part("model");
    if (fitted.method == kOnline) {
      fitted.model = OnlineModel::load(part, load_base);
    } else {
      fitted.model = load_wrapped(part, find_method(fitted.method));
    }
    if (schema->width() * schema->window() != fitted.model->features() ||
        given_by(*schema) != fitted.model->given()) {
      fail(ErrorCode::kCorruptFile, "its columns do not fit its model");
    }
    fitted.schema = std::move(schema);
    return fitted;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kUnsupported) throw;
    // Neutral words: an option in a damaged file is none that the user has set.
    fail(ErrorCode::kCorruptFile, {.source = path}, "{}", error.what());
  }
}

}  // namespace

void save_model(const std::string& path, const FittedModel& fitted, Replace replace) {
  write_safetensors(path, store_model(fitted),
                    replace == Replace::kReplace ? Overwrite::kAllow : Overwrite::kRefuse);
}

std::vector<std::byte> save_model_to_memory(const FittedModel& fitted) {
  return safetensors_bytes(store_model(fitted));
}

FittedModel load_model(const std::string& path) { return model_in(read_safetensors(path), path); }

FittedModel load_model_from_memory(std::vector<std::byte> bytes, const std::string& name) {
  const auto owned = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return model_in(read_safetensors(*owned, owned, name), name);
}

}  // namespace tare
