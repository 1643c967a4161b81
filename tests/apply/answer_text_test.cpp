// SPDX-License-Identifier: BSD-3-Clause
#include "apply/answer_text.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "apply/kept_columns.h"
#include "expect_error.h"
#include "function_model.h"

namespace tare {
namespace {

const FunctionModel& any_model() {
  static const FunctionModel kModel(
      1, [](std::span<const double> x, double tau) { return x[0] + tau; });
  return kModel;
}

/// Two rows, of which the second cannot be answered, and a third.
Table rows_with_names() {
  Table table;
  table.lines = {2, 3, 4};
  Column name;
  name.name = "na\"me";
  for (const std::string text : {"a,b", "gone", "c"}) {
    name.raw.bytes += text;
    name.raw.ends.push_back(name.raw.bytes.size());
  }
  table.columns.push_back(name);
  return table;
}

AnswerColumns columns_of(bool diagnostics) {
  const std::array levels = {0.5};
  return {any_model(), level_columns(levels, {}), {.diagnostics = diagnostics}};
}

TEST(AnswerText, CsvHasEmptyCellsForWhatIsNotKnown) {
  const AnswerColumns columns = columns_of(true);
  AnswerText text(columns);
  text.keep({"na\"me"});
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const Matrix values(std::vector<double>{1.5, unknown, 0.25, 0, 1, unknown, unknown, -2, 7, 1, 1,
                                          0, -3, std::numeric_limits<double>::infinity()},
                      2, 7);
  const std::array<std::size_t, 2> rows = {0, 2};
  std::string csv;
  text.append_csv_header(csv);
  text.append_csv(csv, rows_with_names(), rows, values);
  EXPECT_EQ(csv,
            "\"na\"\"me\",q0.5,effective_n,nearest,fallback,outside,q0.5_low,q0.5_high\n"
            "\"a,b\",1.5,,0.25,0,1,,\n"
            "c,-2,7,1,1,0,-3,inf\n");
  std::string json;
  text.append_json(json, rows_with_names(), rows, values, "\n");
  EXPECT_EQ(json, R"({"na\"me":"a,b","q0.5":1.5,"nearest":0.25,"fallback":false,"outside":true})"
                  "\n"
                  R"({"na\"me":"c","q0.5":-2,"effective_n":7,"nearest":1,"fallback":true,)"
                  R"("outside":false,"q0.5_low":-3,"q0.5_high":null})");
}

TEST(AnswerText, AColumnIsNotThereTwice) {
  const AnswerColumns columns = columns_of(false);
  expect_error(ErrorCode::kInvalidArgument, "leave it out of keep", [&] {
    AnswerText(columns).keep({"a", "q0.5"});
  });
}

TEST(AnswerText, KeptCellsOfATableThatWasNotReadFromAFileAreWritten) {
  const AnswerColumns columns = columns_of(false);
  AnswerText text(columns);
  text.keep({"n", "t"});
  Table table;
  table.add_numbers("n", std::array{0.1, std::nan("")});
  table.add_texts("t", std::array<std::string, 2>{"a,b", "NA"});
  const std::array<std::size_t, 2> rows = {0, 1};
  std::string csv;
  text.append_csv(csv, table, rows, Matrix(std::vector<double>{1, 2}, 2, 1));
  EXPECT_EQ(csv, "0.1,\"a,b\",1\n,,2\n");
  const std::array<std::size_t, 1> beyond = {2};
  expect_error(ErrorCode::kShapeMismatch, "row 3",
               [&] { text.append_csv(csv, table, beyond, Matrix(1, 1)); });
  expect_error(ErrorCode::kNotFound, "no column 'n' to keep", [&] {
    Table other;
    other.add_numbers("m", std::array{0.0, 0.0, 0.0});
    text.append_csv(csv, other, beyond, Matrix(1, 1));
  });
}

TEST(KeptColumns, AreNamedOrAll) {
  const std::vector<std::string> header = {"a", "b", "wage"};
  const auto kept = [&](std::vector<std::string> named) {
    return kept_columns("f.csv", header, named);
  };
  EXPECT_EQ(kept({}), std::vector<std::string>{});
  EXPECT_EQ(kept({"all"}), header);
  EXPECT_EQ(kept({"wage", "a"}), (std::vector<std::string>{"wage", "a"}));
  expect_error(ErrorCode::kNotFound, "did you mean wage", [&] { kept({"wages"}); });
  expect_error(ErrorCode::kInvalidArgument, "twice", [&] { kept({"a", "a"}); });
  EXPECT_EQ(kept_columns("f.csv", {"all", "b"}, {"all"}), std::vector<std::string>{"all"});
}

}  // namespace
}  // namespace tare
