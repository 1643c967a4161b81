// SPDX-License-Identifier: BSD-3-Clause
#include "small_models.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>

#include "contract/every_method.h"
#include "tare/apply/fit.h"
#include "tare/base/rng.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/model_file.h"

namespace tare {
namespace {

/// Two numbers, a category, a group, a weight, an outside prediction with its sd and quantiles.
Table draw_rows(std::size_t rows, std::uint64_t seed, bool counts) {
  Rng rng(Seed{seed});
  std::vector<double> a, b, weight, yhat, sd, low, high, y;
  std::vector<std::string> colour, zone;
  for (std::size_t i = 0; i < rows; ++i) {
    a.push_back(rng.uniform());
    b.push_back(rng.normal());
    colour.push_back(rng.below(2) == 0 ? "red" : "green");
    zone.push_back(rng.below(2) == 0 ? "n" : "s");
    weight.push_back(1.0 + static_cast<double>(rng.below(3)));
    yhat.push_back(2.0 * a.back() + b.back());
    sd.push_back(0.1 + a.back());
    low.push_back(yhat.back() - sd.back());
    high.push_back(yhat.back() + sd.back());
    const double target = yhat.back() + sd.back() * rng.normal();
    y.push_back(counts ? std::max(0.0, std::round(target)) : target);
  }
  Table table;
  table.source = "rows";
  table.add_numbers("a", a);
  table.add_numbers("b", b);
  table.add_texts("colour", colour);
  table.add_texts("zone", zone);
  table.add_numbers("weight", weight);
  table.add_numbers("yhat", yhat);
  table.add_numbers("sd", sd);
  table.add_numbers("q0.2", low);
  table.add_numbers("q0.8", high);
  table.add_numbers("y", y);
  return table;
}

/// What is not in all of them: options by name, as FitOptions::set takes them.
struct Recipe {
  std::size_t rows = 120;
  bool counts = false;  // whole targets, many of them equal
  std::map<std::string, std::string> options;
};

std::map<std::string, Recipe> make_recipes() {
  std::map<std::string, Recipe> all;
  for (const Method& method : methods()) {
    Recipe recipe;
    recipe.options["method"] = method.name;
    const Params quick = quick_params(method);
    for (const auto& [name, value] : quick.all()) recipe.options[name] = value;
    all[std::string(method.name)] = recipe;
  }
  const auto add = [&](const std::string& name, std::map<std::string, std::string> options,
                       std::size_t rows = 120, bool counts = false) {
    all[name] = {rows, counts, std::move(options)};
  };
  add("with_split", {{"method", "pure_kernel"}, {"guarantee", "split:0.4"}, {"weight", "weight"}});
  add("with_cross", {{"method", "pure_kernel"}, {"guarantee", "cross:2"}, {"group", "zone"}});
  add("with_groups", {{"method", "cqr_boost"}, {"guarantee", "split"}, {"group", "zone"}}, 300);
  add("with_local", {{"method", "pure_kernel"}, {"guarantee", "local,share=0.8"}}, 300);
  add("with_conditional",
      {{"method", "pure_kernel"},
       {"guarantee", "conditional:a,groups,kernel:2"},
       {"group", "zone"}},
      200);
  add("with_loose", {{"method", "pure_kernel"}, {"guarantee", "loose:0.4"}, {"group", "zone"}});
  add("with_bands", {{"method", "nrc"}, {"regressor", "ridge"}, {"bands", "on"}}, 300);
  add("with_bounds", {{"method", "nrc_rf"}, {"trees", "3"}, {"bounds", "-9,9"}});
  add("with_masses", {{"method", "nrc_boost"}, {"masses", "yes"}, {"prediction", "yhat"}}, 200,
      true);
  add("auto_masses", {{"method", "auto"}, {"steps", "20"}, {"folds", "2"}, {"guarantee", "none"}},
      200, true);
  add("auto_given", {{"method", "auto"}, {"steps", "20"}, {"folds", "2"}, {"prediction", "yhat"}});
  add("given_point", {{"method", "nrc"}, {"prediction", "yhat"}, {"kernel", "knn"}});
  add("given_sd", {{"method", "nrc"}, {"prediction", "yhat"}, {"prediction_sd", "sd"}});
  add("given_quantiles", {{"method", "nrc_boost"}, {"prediction_quantiles", "q0.2,q0.8"}});
  add("window_nrc", {{"method", "nrc"}, {"regressor", "ridge"}, {"window", "3"}});
  add("window_lstm", {{"method", "lstm_nrc"}, {"window", "3"}, {"epochs", "2"}, {"units", "4"}});
  add("cross_boosting", {{"method", "nrc"}, {"regressor", "boosting"}, {"split", "cross"}});
  add("screened", {{"method", "nrc"}, {"regressor", "ridge"}, {"calibrate_on", "auto"}}, 200);
  add("imputed", {{"method", "pure_kernel"}, {"missing", "impute"}, {"kernel", "naive"}});
  add("shifted", {{"method", "pure_kernel"}, {"guarantee", "split:0.4"}, {"shift_to", ""}}, 200);
  return all;
}

const std::map<std::string, Recipe>& recipes() {
  static const std::map<std::string, Recipe> kAll = make_recipes();
  return kAll;
}

}  // namespace

const std::vector<std::string>& small_model_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const auto& [name, recipe] : recipes()) names.push_back(name);
    return names;
  }();
  return kNames;
}

SmallModel small_model(const std::string& name) {
  const Recipe& recipe = recipes().at(name);
  FitOptions options;
  options.target = "y";
  options.set("bands", "off");
  for (const auto& [option, value] : recipe.options) {
    if (option != "shift_to") options.set(option, value);
  }
  if (recipe.options.contains("shift_to")) {
    options.shift_to = std::make_shared<const Table>(draw_rows(100, 9, recipe.counts));
  }
  options.seed = Seed{7};
  for (const char* column : {"zone", "weight", "yhat", "sd", "q0.2", "q0.8"}) {
    const bool used = std::ranges::any_of(recipe.options, [&](const auto& option) {
      return option.first != "method" && option.second.find(column) != std::string::npos;
    });
    if (!used) options.drop.emplace_back(column);
  }
  FittedModel fitted =
      fit(draw_rows(recipe.rows, 3, recipe.counts), options, {.threads = 1, .progress = {}});
  // A row of a window needs the rows before it.
  return {name, save_model_to_memory(fitted), draw_rows(4, 5, recipe.counts)};
}

}  // namespace tare
