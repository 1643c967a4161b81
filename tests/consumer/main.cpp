// SPDX-License-Identifier: BSD-3-Clause
// The C++ quick start of the README, through the installed package alone: fit a file with columns
// of text, keep the model in memory, predict named columns, and say what is guaranteed. usage:
// consumer DATA.csv MODEL.tare
#include <tare/tare.h>

#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    tare::FitOptions options{.target = "y", .method = "nrc_rf"};
    options.params = tare::Params::parse("trees=30 guarantee=split bands=off");
    options.missing = tare::MissingPolicy::kImpute;
    const tare::Table table = tare::read_csv(argv[1], options);
    const tare::FittedModel fitted = tare::fit(table, options);
    tare::save_model(argv[2], fitted, tare::Replace::kReplace);

    const std::vector<std::byte> bytes = tare::save_model_to_memory(fitted);
    const tare::FittedModel loaded = tare::load_model_from_memory(bytes);
    const tare::Description description = tare::describe(loaded);
    if (!description.guarantee) return 1;
    std::printf("guarantee: %zu rows; a 90 %% interval covers %.4f on average\n",
                description.guarantee->rows, description.guarantee->at(0.9).on_average);

    tare::Table fresh;  // rows of the program's own
    fresh.add_texts("colour", std::vector<std::string>{"red", "blue"});
    fresh.add_numbers("size", std::vector<double>{0.25, 0.75});
    tare::Predictor predictor(loaded, {.levels = {0.5}, .intervals = {0.9}});
    const tare::Answers answers = predictor.answer(fresh);
    for (std::size_t i = 0; i < answers.values.rows(); ++i) {
      for (std::size_t j = 0; j < predictor.names().size(); ++j) {
        std::printf("%s=%.17g ", predictor.names()[j].c_str(), answers.values(i, j));
      }
      std::printf("\n");
    }
    for (const tare::Notice& notice : predictor.notices()) {
      std::printf("%s: %s\n", notice.code.c_str(), notice.text.c_str());
    }
  } catch (const tare::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  try {
    tare::find_method("no such method");
  } catch (
      const tare::Error& error) {  // exceptions cross the border of the library with their type
    return error.code() == tare::ErrorCode::kNotFound ? 0 : 1;
  }
  return 1;
}
