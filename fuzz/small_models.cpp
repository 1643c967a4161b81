// SPDX-License-Identifier: BSD-3-Clause
#include "small_models.h"

#include <utility>

#include "tare/apply/fit.h"
#include "tare/apply/track.h"
#include "tare/io/table.h"

namespace tare::fuzz {
namespace {

Table rows_of(std::size_t count) {
  std::vector<double> a, y, low, high;
  std::vector<std::string> c;
  for (std::size_t i = 0; i < count; ++i) {
    a.push_back(static_cast<double>((i * 7) % 13));
    c.emplace_back(i % 2 == 0 ? "u" : "v");
    y.push_back(static_cast<double>((i * 5) % 11));
    low.push_back(a.back() - 3.0);
    high.push_back(a.back() + 3.0);
  }
  Table table;
  table.add_numbers("a", a);
  table.add_texts("c", c);
  table.add_numbers("q0.1", low);
  table.add_numbers("q0.9", high);
  table.add_numbers("y", y);
  return table;
}

FittedModel fitted(std::vector<std::pair<std::string, std::string>> settings) {
  FitOptions options;
  options.target = "y";
  options.missing = MissingPolicy::kImpute;
  for (const auto& [name, text] : settings) options.set(name, text);
  return fit(rows_of(60), options, {.threads = 1});
}

}  // namespace

std::vector<FittedModel> small_models() {
  std::vector<FittedModel> models;
  models.push_back(fitted({{"method", "pure_kernel"}, {"bandwidth", "1"}, {"features", "a,c"}}));
  models.push_back(fitted({{"method", "nrc"},
                           {"regressor", "ridge"},
                           {"features", "a,c"},
                           {"window", "3"},
                           {"bandwidth", "1"}}));
  models.push_back(fitted({{"method", "nrc"},
                           {"prediction", "q0.1"},
                           {"features", "a,c"},
                           {"guarantee", "split:0.5"},
                           {"group", "c"},
                           {"bandwidth", "1"}}));
  models.push_back(fitted(
      {{"method", "nrc"}, {"prediction_quantiles", "q*"}, {"features", "a"}, {"bandwidth", "1"}}));
  return models;
}

FittedModel small_online_model() {
  std::vector<double> a, b, p, y;
  for (std::size_t i = 0; i < 40; ++i) {
    a.push_back(static_cast<double>((i * 7) % 13));
    b.push_back(static_cast<double>((i * 3) % 5));
    p.push_back(a.back() + b.back());
    y.push_back(p.back() + static_cast<double>((i * 5) % 11) - 5.0);
  }
  Table table;
  table.add_numbers("a", a);
  table.add_numbers("b", b);
  table.add_numbers("p", p);
  table.add_numbers("y", y);
  TrackOptions options;
  options.target = "y";
  options.prediction = "p";
  options.start = 10;
  options.set("window", "50");
  return track(table, options).model;
}

}  // namespace tare::fuzz
