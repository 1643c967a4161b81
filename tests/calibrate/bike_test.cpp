// SPDX-License-Identifier: BSD-3-Clause
// The paper's series: hourly bike rentals, the last fifth in time is the test.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "data/schema.h"
#include "data/windows.h"
#include "io/csv.h"
#include "tare/calibrate/methods.h"

namespace tare {
namespace {

TEST(BikeSharing, TheBandOfLstmNrcHoldsOverTheTestPeriod) {
  const char* folder = std::getenv("TARE_DATA");
  if (folder == nullptr) GTEST_SKIP() << "set TARE_DATA to a folder with bike_sharing.csv";
  CsvReader reader(std::string(folder) + "/bike_sharing.csv");
  Roles roles;
  roles.target = "cnt";
  reader.select(Schema::fit_requests(reader.source(), reader.header(), roles));
  const Table table = read_all(reader);
  const Schema schema = Schema::learn(table, roles);
  Encoded series = schema.encode(table, Need::kFeaturesAndTarget, MissingPolicy::kError);
  const Method& method = find_method("lstm_nrc");
  Windows windows(method.window);
  windows.apply(series);

  const std::size_t rows = series.y.size();
  const std::size_t past = rows * 4 / 5;
  const std::span<const double> y = series.y;
  FitInput input{.x = series.x.view().middle_rows(0, past), .y = y.first(past)};
  input.window = method.window;
  const auto model = fit_method(method, input, {});
  const auto [lower, upper] = interval_levels(0.95);
  const auto p = model->predict({series.x.view().middle_rows(past, rows - past)}, {{lower, upper}});
  const auto coverage = [&](std::size_t steps) {
    std::size_t inside = 0;
    for (std::size_t i = 0; i < steps; ++i) {
      if (y[past + i] >= p.quantiles(i, 0) && y[past + i] <= p.quantiles(i, 1)) ++inside;
    }
    return static_cast<double>(inside) / static_cast<double>(steps);
  };
  std::printf("95 %% band: steps 0-200 %.3f, all %zu steps %.3f\n", coverage(200), rows - past,
              coverage(rows - past));
  // Five seeds gave 0.911 to 0.947, in a test period that had no part in any choice of the split
  // (docs/decisions/0007).
  EXPECT_GE(coverage(rows - past), 0.90);
  EXPECT_LE(coverage(rows - past), 0.98);
}

}  // namespace
}  // namespace tare
