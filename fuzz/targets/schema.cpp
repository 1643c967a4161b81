// SPDX-License-Identifier: BSD-3-Clause
// A table becomes a schema and rows of numbers, the schema goes through JSON and gives the same
// rows, and a second table is encoded by it. The text is one table or two, with a line "---"
// between them; or, by choice, the JSON of a schema.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apply/row_encoder.h"
#include "data/schema.h"
#include "input.h"
#include "io/csv.h"
#include "io/files/byte_source.h"
#include "io/json_text.h"
#include "tare/base/error.h"

namespace tare::fuzz {
namespace {

constexpr MissingPolicy kPolicies[] = {MissingPolicy::kError, MissingPolicy::kDrop,
                                       MissingPolicy::kImpute};

/// The names of a header; one that does not exist, or none, is chosen now and then.
class Names {
 public:
  Names(const std::vector<std::string>& header, Input& input) : header_(header), input_(input) {}

  std::string one() { return header_[input_.choose(header_.size())]; }
  std::string maybe() {
    const std::size_t choice = input_.choose(4 * header_.size() + 1);
    if (choice < header_.size()) return header_[choice];
    return choice == 4 * header_.size() ? "no such column" : "";
  }
  std::vector<std::string> some() {
    std::vector<std::string> names;
    for (std::size_t k = input_.choose(8); k > 5; --k) names.push_back(one());
    return names;
  }

 private:
  const std::vector<std::string>& header_;
  Input& input_;
};

Roles choose_roles(const std::vector<std::string>& header, Input& input) {
  Names names(header, input);
  Roles roles;
  roles.target = names.one();
  roles.weight = names.maybe();
  roles.group = names.maybe();
  roles.split = names.maybe();
  roles.features = names.some();
  roles.drop = names.some();
  roles.categorical = names.some();
  roles.calibrate_on = names.some();
  switch (input.choose(8)) {
    case 0:
      roles.prediction_sd = names.maybe();
      [[fallthrough]];
    case 1:
      roles.prediction = names.one();
      break;
    case 2:
      for (const std::string& name : names.some()) {
        roles.prediction_quantiles.push_back({name, static_cast<double>(input.choose(9)) / 8.0});
      }
      break;
    case 3:
      roles.prediction_folds = names.some();
      break;
    default:
      break;
  }
  return roles;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool same(std::span<const double> a, std::span<const double> b) {
  return std::ranges::equal(a, b, [](double x, double y) { return same(x, y); });
}

void check_rows(const Encoded& rows, const Schema& schema, const Table& table) {
  require(rows.x.rows() == rows.rows.size(), "a row of numbers for each row of the table");
  require(rows.x.cols() == schema.feature_names().size(), "a column for each feature");
  require(rows.rows.size() + rows.dropped == table.rows(), "a row is there or dropped");
  for (const double value : rows.x.values()) require(std::isfinite(value), "features are finite");
}

Schema through_json(const Schema& schema) {
  const std::string text = schema.to_json().dump();
  Schema loaded = Schema::from_json(Json::parse(text));
  require(loaded.to_json().dump() == text, "a schema that was loaded is saved as it was");
  return loaded;
}

/// What prediction does with another file, in batches.
void encode_other(const Schema& schema, std::string_view text, Input& input) {
  const Need need = input.flag() ? Need::kFeaturesAndTarget : Need::kFeatures;
  std::optional<MissingPolicy> missing;
  if (input.flag()) missing = kPolicies[input.choose(3)];
  const std::size_t batch_rows = 1 + input.choose(8);
  RowEncoder encoder(schema, need, missing);
  CsvReader reader(bytes_in_memory("other", std::string(text)));
  reader.select(encoder.requests("other", reader.header(), {}));
  Table batch;
  while (reader.read(batch, batch_rows)) {
    encoder.encode(batch);
    const Rows rows = encoder.rows();
    require(rows.x.rows() <= batch.rows(), "no more rows than the batch has");
    require(rows.x.rows() == 0 || rows.x.cols() == schema.feature_names().size() * schema.window(),
            "a column for each feature of each step");
  }
  encoder.notices();
}

void tables(Input& input) {
  constexpr std::string_view kBetween = "\n---\n";
  // The choices come first: the text is what they leave.
  const std::size_t window = input.choose(4) == 3 ? 2 + input.choose(3) : 1;
  const MissingPolicy missing = kPolicies[input.choose(3)];
  Input choices = input;
  for (int k = 0; k < 32; ++k) input.choose(2);
  const std::string_view text = input.text();
  const std::size_t between = text.find(kBetween);
  CsvReader reader(bytes_in_memory("first", std::string(text.substr(0, between))));
  const Roles roles = choose_roles(reader.header(), choices);
  check_given(roles);
  reader.select(Schema::fit_requests("first", reader.header(), roles));
  const Table table = read_all(reader);
  Schema schema = Schema::learn(table, roles);
  schema.set_missing(missing);
  schema.set_window(window);
  const Encoded rows = schema.encode(table, Need::kFeaturesAndTarget, missing);
  check_rows(rows, schema, table);
  if (!roles.group.empty()) schema.set_group(GroupColumn(table, roles.group, rows.rows));
  schema.model_columns();
  schema.columns_of(schema.model_inputs());

  const Schema loaded = through_json(schema);
  const Encoded again = loaded.encode(table, Need::kFeaturesAndTarget, missing);
  require(same(rows.x.values(), again.x.values()) &&
              same(rows.given.values(), again.given.values()) && same(rows.y, again.y) &&
              rows.rows == again.rows,
          "a schema that was loaded encodes as before");
  if (!loaded.group().empty()) loaded.group().codes(table, rows.rows);
  if (between != std::string_view::npos) {
    encode_other(loaded, text.substr(between + kBetween.size()), choices);
  }
}

void json_text(Input& input) {
  if (is_nested_too_deeply(input.text())) return;
  const Json json = Json::parse(input.text(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return;
  through_json(Schema::from_json(json));
}

}  // namespace
}  // namespace tare::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tare::fuzz::Input input(data, size);
  try {
    if (input.choose(4) == 3) {
      tare::fuzz::json_text(input);
    } else {
      tare::fuzz::tables(input);
    }
  } catch (const tare::Error&) {  // refused in words
  }
  return 0;
}
