// SPDX-License-Identifier: BSD-3-Clause
#include "tare/apply/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "expect_error.h"
#include "tare/apply/predictor.h"
#include "tare/base/rng.h"
#include "tare/calibrate/methods.h"

namespace tare {
namespace {

/// Text with gaps, a column of numbers that are names, a group, an outside prediction.
struct Drawn {
  std::vector<std::string> colour, zone;
  std::vector<double> code, size, yhat, y;

  explicit Drawn(std::size_t rows, std::uint64_t seed = 1) {
    Rng rng(Seed{seed});
    for (std::size_t i = 0; i < rows; ++i) {
      colour.push_back(std::vector<std::string>{"red", "green", "NA"}[rng.below(3)]);
      zone.push_back(rng.below(2) == 0 ? "n" : "s");
      code.push_back(static_cast<double>(rng.below(3)) + 7.0);
      size.push_back(rng.uniform());
      yhat.push_back(size.back() + (colour.back() == "red" ? 1.0 : 0.0));
      y.push_back(yhat.back() + rng.normal() * (0.1 + size.back()));
    }
  }

  Table table() const {
    Table table;
    table.source = "drawn";
    table.add_texts("colour", colour);
    table.add_texts("zone", zone);
    table.add_numbers("code", code);
    table.add_numbers("size", size);
    table.add_numbers("yhat", yhat);
    table.add_numbers("y", y);
    return table;
  }

  /// The same as a file.
  std::string write(const std::string& name) const {
    const std::string path = testing::TempDir() + name;
    std::ofstream file(path);
    file.precision(17);
    file << "colour,zone,code,size,yhat,y\n";
    for (std::size_t i = 0; i < y.size(); ++i) {
      file << colour[i] << ',' << zone[i] << ',' << code[i] << ',' << size[i] << ',' << yhat[i]
           << ',' << y[i] << '\n';
    }
    return path;
  }
};

FitOptions small_options() {
  FitOptions options{.target = "y", .method = "nrc"};
  options.params = Params::parse("regressor=ridge bands=off");
  options.drop = {"yhat", "zone"};
  options.categorical = {"code"};
  options.missing = MissingPolicy::kImpute;
  return options;
}

std::vector<double> answers(const FittedModel& model, const Table& table) {
  Predictor predictor(model);
  const Answers found = predictor.answer(table);
  return {found.values.values().begin(), found.values.values().end()};
}

TEST(Fit, OfATableIsFitMethodOnItsEncodedRows) {
  const Drawn drawn(300);
  const FittedModel fitted = fit(drawn.table(), small_options());
  // One-hot by hand: categories sorted, a missing colour takes the most frequent one.
  const auto red = static_cast<std::size_t>(std::ranges::count(drawn.colour, "red"));
  const auto green = static_cast<std::size_t>(std::ranges::count(drawn.colour, "green"));
  Matrix x(300, 6);
  for (std::size_t i = 0; i < 300; ++i) {
    const bool is_missing = drawn.colour[i] == "NA";
    const bool is_green = is_missing ? green >= red : drawn.colour[i] == "green";
    x(i, is_green ? 0 : 1) = 1.0;
    x(i, 2 + static_cast<std::size_t>(drawn.code[i] - 7.0)) = 1.0;
    x(i, 5) = drawn.size[i];
  }
  const auto direct = fit_method(find_method("nrc"), {.x = x, .y = drawn.y},
                                 Params::parse("regressor=ridge bands=off"));
  const std::vector<Level> levels = {Level{0.05}, Level{0.5}, Level{0.95}};
  const Matrix expected = direct->predict({x}, levels).quantiles;
  const std::vector<double> found = answers(fitted, drawn.table());
  EXPECT_TRUE(std::ranges::equal(found, expected.values()));
}

TEST(Fit, OfATableAndOfItsFileAreTheSameModel) {
  const Drawn drawn(200);
  FitOptions options = small_options();
  options.group = "zone";
  options.drop = {"yhat"};
  options.params.set("guarantee", "split:0.5");
  const std::string path = drawn.write("fit_test.csv");
  FitSummary summary;
  const FittedModel of_table = fit(drawn.table(), options, {}, &summary);
  const FittedModel of_file = fit(read_csv(path, options), options);
  const FittedModel of_whole_file = fit(read_csv(path), options);
  EXPECT_EQ(save_model_to_memory(of_table), save_model_to_memory(of_file));
  EXPECT_EQ(save_model_to_memory(of_table), save_model_to_memory(of_whole_file));
  ASSERT_EQ(summary.notices.size(), 1U);
  EXPECT_EQ(summary.notices[0].code, "imputed_values");
  EXPECT_EQ(summary.imputed, static_cast<std::size_t>(std::ranges::count(drawn.colour, "NA")));
}

TEST(Fit, OptionsByNameAreTheTypedOnes) {
  FitOptions named;
  for (const auto& [name, text] :
       std::vector<std::pair<std::string, std::string>>{{"target", "y"},
                                                        {"method", "nrc"},
                                                        {"regressor", "ridge"},
                                                        {"bands", "off"},
                                                        {"drop", "yhat, zone"},
                                                        {"categorical", "code"},
                                                        {"missing", "impute"},
                                                        {"seed", "0"}}) {
    named.set(name, text);
  }
  const Drawn drawn(100);
  EXPECT_EQ(save_model_to_memory(fit(drawn.table(), named)),
            save_model_to_memory(fit(drawn.table(), small_options())));
}

TEST(Fit, AnOutsideModelIsAskedForItsFeatures) {
  const Drawn drawn(150);
  FitOptions options = small_options();
  options.params = Params::parse("bands=off");
  options.outside_model = [](const Table& table, const std::vector<std::string>& features,
                             const std::vector<std::size_t>& rows) {
    EXPECT_EQ(features, (std::vector<std::string>{"colour", "code", "size"}));
    std::vector<double> predictions;
    for (const std::size_t i : rows) predictions.push_back(table.find("size")->numbers[i]);
    return predictions;
  };
  options.predictor = "size";
  const FittedModel fitted = fit(drawn.table(), options);
  expect_error(ErrorCode::kInvalidArgument, "does not start programs", [&] { Predictor{fitted}; });
  Predictor predictor(fitted, {.levels = {0.5}, .outside_model = options.outside_model});
  EXPECT_EQ(predictor.answer(drawn.table()).values.rows(), 150U);
}

TEST(ChooseMethod, TakesWhatSuitsTheOptions) {
  FitOptions options{.target = "y"};
  EXPECT_EQ(choose_method(options), "auto");
  options.prediction = "yhat";
  EXPECT_EQ(choose_method(options), "auto");
  options.params.set("reducer", "covariance");  // `auto` has none
  EXPECT_EQ(choose_method(options), "nrc");
  options.prediction.clear();
  EXPECT_EQ(choose_method(options), "nrc_rf");
  options.params = {};
  options.split = "time";
  EXPECT_EQ(choose_method(options), "nrc_rf");
  options.method = "Deep-Ensemble";
  EXPECT_EQ(choose_method(options), "deep_ensemble");
}

TEST(Fit, RefusesWhatContradictsItself) {
  const Drawn drawn(60);
  const auto refused = [&](ErrorCode code, const char* text, auto&& change) {
    FitOptions options = small_options();
    change(options);
    expect_error(code, text, [&] { fit(drawn.table(), options); });
  };
  refused(ErrorCode::kInvalidArgument, "must name the column to predict",
          [](FitOptions& o) { o.target.clear(); });
  refused(ErrorCode::kNotFound, "has no column 'why'", [](FitOptions& o) { o.target = "why"; });
  refused(ErrorCode::kInvalidArgument, "no guarantee", [](FitOptions& o) { o.group = "zone"; });
  refused(ErrorCode::kInvalidArgument, "two options name", [](FitOptions& o) {
    o.prediction = "yhat";
    o.prediction_quantiles = {"a=0.1", "b=0.9"};
  });
  refused(ErrorCode::kInvalidArgument, "no option names",
          [](FitOptions& o) { o.prediction_sd = "size"; });
  refused(ErrorCode::kBadData, "is not a number", [](FitOptions& o) {
    o.prediction = "colour";
    o.params = {};
  });
  refused(ErrorCode::kBadData, "'NA' is a missing value",
          [](FitOptions& o) { o.missing = MissingPolicy::kError; });
  refused(ErrorCode::kNotFound, "no method", [](FitOptions& o) { o.method = "nrcc"; });
}

}  // namespace
}  // namespace tare
