// SPDX-License-Identifier: BSD-3-Clause
// The C++ quick start of the README: fit, save, load, predict, through the installed package alone.
#include <tare/tare.h>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const tare::Sample data = tare::draw(tare::find_problem("hetero_2"), 2000, tare::Seed{1});
  const tare::FitInput input{.x = data.x, .y = data.y};
  const tare::Method& method = tare::find_method("nrc_rf");

  tare::FittedModel fitted;
  fitted.method = method.name;
  fitted.rows = data.y.size();
  fitted.model = tare::fit_method(method, input, {});
  tare::save_model(argv[1], fitted, tare::Replace::kReplace);

  const tare::FittedModel loaded = tare::load_model(argv[1]);
  const std::vector<tare::Level> levels = {tare::Level{0.05}, tare::Level{0.5}, tare::Level{0.95}};
  const tare::Prediction p = loaded.model->predict({data.x}, levels);
  std::printf("%g %g %g from %.0f rows\n", p.quantiles(0, 0), p.quantiles(0, 1), p.quantiles(0, 2),
              p.window_n[0]);
  return p.quantiles(0, 0) <= p.quantiles(0, 2) ? 0 : 1;
}
