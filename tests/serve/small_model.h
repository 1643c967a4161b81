// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "data/schema.h"
#include "io/csv.h"
#include "io/files/byte_source.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/model_file.h"

namespace tare::serve {

/// A model on two features, a number `a` and a category `c`, with target `y`, fitted on a few rows.
inline FittedModel small_model(std::uint64_t seed = 1, const std::string& first = "a") {
  std::string text = first + ",c,y\n";
  for (std::uint64_t i = 0; i < 60; ++i) {
    text += std::to_string((i * 7 + seed) % 13) + "," + (i % 2 == 0 ? "u" : "v") + "," +
            std::to_string((i * 5 + seed) % 11) + "\n";
  }
  CsvReader reader(bytes_in_memory("rows", text));
  Roles roles;
  roles.target = "y";
  reader.select(Schema::fit_requests("rows", reader.header(), roles));
  const Table table = read_all(reader);
  auto schema = std::make_shared<Schema>(Schema::learn(table, roles));
  const Encoded rows = schema->encode(table, Need::kFeaturesAndTarget, MissingPolicy::kError);
  FittedModel fitted;
  fitted.method = "pure_kernel";
  fitted.rows = rows.y.size();
  fitted.seed = Seed{seed};
  fitted.model = fit_method(find_method("pure_kernel"), {.x = rows.x, .y = rows.y},
                            Params::parse("bandwidth=1"));
  fitted.schema = std::move(schema);
  return fitted;
}

}  // namespace tare::serve
