// SPDX-License-Identifier: BSD-3-Clause
// A model file with its checksum made right: it is loaded, described and asked about two rows, or
// refused as corrupt. The mutator changes the header as JSON and the tensors as numbers, so that
// most mutants are still files.
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "calibrate/online/online_model.h"
#include "data/schema.h"
#include "input.h"
#include "io/json_text.h"
#include "io/safetensors.h"
#include "model_bytes.h"
#include "tare/apply/predictor.h"
#include "tare/base/error.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/model_file.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace tare::fuzz {
namespace {

using Random = std::minstd_rand;

std::size_t below(Random& random, std::size_t count) { return random() % count; }

/// Two rows with the columns that the model asks for: its typical values, and others.
Table two_rows(const Schema& schema) {
  Table table;
  const auto add = [&](const std::string& name, double first, double second) {
    if (table.find(name) == nullptr) {
      table.add_numbers(name, std::vector<double>{first, second});
    }
  };
  for (const InputColumn& input : schema.inputs()) {
    if (table.find(input.name) != nullptr) continue;
    if (input.categorical) {
      const std::string known = input.vocabulary.empty() ? "x" : input.vocabulary.front();
      table.add_texts(input.name, std::vector<std::string>{known, "never seen"});
    } else {
      add(input.name, input.typical, 1e3);
    }
  }
  double given = 1.0;
  for (const std::string& name : schema.given_columns()) {
    add(name, given, given + 0.5);
    given += 1.0;
  }
  if (!schema.group().empty() && table.find(schema.group().name()) == nullptr) {
    table.add_texts(
        schema.group().name(),
        std::vector<std::string>{
            schema.group().values().empty() ? "x" : schema.group().values().front(), "never seen"});
  }
  return table;
}

void use(const FittedModel& model) {
  require(!description_json(describe(model)).empty(), "a model has a description");
  PredictOptions options;
  options.levels = {0.05, 0.5, 0.999};
  options.intervals = {0.9};
  options.diagnostics = true;
  options.missing = MissingPolicy::kImpute;
  if (!model.schema->predictor().empty()) {
    options.outside_model = [](const Table&, const std::vector<std::string>&,
                               const std::vector<std::size_t>& rows) {
      return std::vector<double>(rows.size(), 0.5);
    };
  }
  Predictor predictor(model, options);
  const Table table = two_rows(*model.schema);
  if (table.rows() == 0) return;
  const Answers answers = predictor.answer(table, {.threads = 1});
  require(answers.values.cols() == predictor.names().size(), "a value for each column");
  std::string text;
  predictor.append_csv_header(text);
  predictor.append_csv(text, table, answers);
}

/// A model that learns is taught two rows: what its file says of past rows is used only then.
void teach(const FittedModel& model) {
  const std::shared_ptr<OnlineModel> online = online_in(model);
  if (!online) return;
  const std::vector<double> x(online->features(), 0.5);
  for (const double target : {2.0, -1e6}) {
    const PendingRow row = online->answer(1.0, x);
    for (const double q : row.answer.quantiles) require(!std::isnan(q), "an answer is a number");
    online->learn(row, x, target);
  }
}

/// Every value inside a JSON document.
void leaves(nlohmann::json& json, std::vector<nlohmann::json*>& found) {
  found.push_back(&json);
  if (!json.is_structured()) return;
  for (auto& item : json) leaves(item, found);
}

/// Something else that may stand in its place.
void change(nlohmann::json& json, Random& random) {
  constexpr double kNumbers[] = {0.0,    1.0,   2.0,   -1.0,    0.5,          1e-320,      1e300,
                                 -1e300, 255.0, 256.0, 65536.0, 2147483647.0, 4294967296.0};
  constexpr std::uint64_t kCounts[] = {0,
                                       1,
                                       2,
                                       3,
                                       7,
                                       64,
                                       1000,
                                       1U << 20,
                                       0x7fffffff,
                                       0xffffffff,
                                       0x7fffffffffffffff,
                                       0xffffffffffffffff};
  switch (below(random, 10)) {
    case 0:
      json = kNumbers[below(random, std::size(kNumbers))];
      return;
    case 1:
      json = kCounts[below(random, std::size(kCounts))];
      return;
    case 2:
      json = nullptr;
      return;
    case 3:
      if (json.is_structured() && !json.empty()) {  // a part less
        auto item = json.begin();
        std::advance(item, static_cast<std::ptrdiff_t>(below(random, json.size())));
        json.erase(item);
        return;
      }
      break;
    case 4:
      if (json.is_array() && !json.empty()) {  // a part twice
        json.push_back(json[below(random, json.size())]);
        return;
      }
      break;
    case 5:
      json = nlohmann::json::array({json});
      return;
    default:
      break;
  }
  if (json.is_number_unsigned()) {
    json = json.get<std::uint64_t>() + (random() % 2 == 0 ? 1U : ~std::uint64_t{0});
  } else if (json.is_number()) {
    json = json.get<double>() * (random() % 2 == 0 ? -1.0 : 1e10);
  } else if (json.is_boolean()) {
    json = !json.get<bool>();
  } else if (json.is_string()) {
    constexpr const char* kTexts[] = {"",      "F64",   "F32", "I32",   "I64", "U8",
                                      "nrc",   "auto",  "hnn", "1",     "-1",  "tree",
                                      "brute", "dense", "mlp", "forest"};
    json = kTexts[below(random, std::size(kTexts))];
  }
}

/// Header and metadata are JSON; the values in the metadata are JSON as text.
std::string changed_header(std::string_view header, Random& random) {
  if (is_nested_too_deeply(header)) return std::string(header);
  nlohmann::json json = nlohmann::json::parse(header, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return std::string(header);
  auto metadata = json.find("__metadata__");
  if (random() % 3 != 0 && metadata != json.end() && metadata->is_object() && !metadata->empty()) {
    auto item = metadata->begin();
    std::advance(item, static_cast<std::ptrdiff_t>(below(random, metadata->size())));
    if (item->is_string() && !is_nested_too_deeply(item->get<std::string>())) {
      nlohmann::json inner = nlohmann::json::parse(item->get<std::string>(), nullptr, false);
      if (!inner.is_discarded()) {
        std::vector<nlohmann::json*> found;
        leaves(inner, found);
        change(*found[below(random, found.size())], random);
        *item = inner.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      }
    }
  }
  std::vector<nlohmann::json*> found;
  leaves(json, found);
  change(*found[below(random, found.size())], random);
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <class T>
void put(std::string& bytes, std::size_t place, T value) {
  if (place + sizeof(T) <= bytes.size()) std::memcpy(bytes.data() + place, &value, sizeof(T));
}

/// One element of the tensors replaced by a number that is awkward for its type.
void change_element(std::string& payload, Random& random) {
  if (payload.size() < 8) return;
  const std::size_t place = below(random, payload.size() / 4) * 4;
  constexpr double kDoubles[] = {0.0,
                                 -0.0,
                                 1e308,
                                 -1e308,
                                 1e-320,
                                 -1.0,
                                 0.5,
                                 std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()};
  constexpr std::int32_t kInts[] = {
      0, 1, -1, 2, 100, 1 << 20, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
  switch (below(random, 4)) {
    case 0:
      put(payload, place / 8 * 8, kDoubles[below(random, std::size(kDoubles))]);
      break;
    case 1:
      put(payload, place, static_cast<float>(kDoubles[below(random, std::size(kDoubles))]));
      break;
    case 2:
      put(payload, place, kInts[below(random, std::size(kInts))]);
      break;
    default:
      payload[below(random, payload.size())] = static_cast<char>(random());
  }
}

}  // namespace
}  // namespace tare::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  using namespace tare::fuzz;
  Random random(seed);
  if (below(random, 8) == 0) return LLVMFuzzerMutate(data, size, max_size);
  const ModelBytes parts = split_model({reinterpret_cast<const char*>(data), size});
  std::string header(parts.header);
  std::string payload(parts.payload);
  for (std::size_t changes = 1 + below(random, 3); changes > 0; --changes) {
    if (below(random, 2) == 0) {
      header = changed_header(header, random);
    } else {
      change_element(payload, random);
    }
  }
  if (below(random, 64) == 0 && payload.size() > 8) payload.resize(below(random, payload.size()));
  const std::string bytes = join_model(std::move(header), payload);
  if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare;
  const auto* first = reinterpret_cast<const std::byte*>(data);
  FittedModel model;
  try {
    model = load_model_from_memory(with_right_checksum({first, first + size}));
  } catch (const Error& error) {
    fuzz::require(
        error.code() == ErrorCode::kCorruptFile || error.code() == ErrorCode::kUnsupported,
        "a file is a model or corrupt", error.what());
    return 0;
  }
  try {
    fuzz::use(model);
    fuzz::teach(model);
  } catch (const Error&) {  // rows that it cannot answer
  }
  return 0;
}
