// SPDX-License-Identifier: BSD-3-Clause
#include "tare/base/error.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "base/fail.h"

namespace tare {
namespace {

std::string as_flag(std::string_view option, std::string_view value) {
  if (option == "unknown") return "";
  return "--" + std::string(option) + (value.empty() ? "" : " " + std::string(value));
}

Error make(ErrorDetails details, const std::string& problem = "is wrong") {
  return {ErrorCode::kBadData, std::move(details), problem};
}

std::string text(ErrorDetails details) { return error_text(make(std::move(details)), {as_flag}); }

TEST(Error, ATextAloneIsTheWholeMessage) {
  const Error error(ErrorCode::kIo, "no");
  EXPECT_STREQ(error.what(), "no");
  EXPECT_EQ(error.problem(), "no");
  EXPECT_EQ(error_text(error, {as_flag}), "no");
}

TEST(Error, CopiesWithoutThrowing) {
  static_assert(std::is_nothrow_copy_constructible_v<Error>);
  const Error copy = make({.source = "a.csv"});
  EXPECT_EQ(Error(copy).details().source, "a.csv");
}

TEST(Error, EveryFrontEndWordsTheSameError) {
  const Error error = make({.source = "cars.csv",
                            .line = 7,
                            .row = 5,
                            .column = "hp",
                            .value = "?",
                            .remedies = {use("missing", "drop"), use("missing", "impute")}},
                           "'?' is a missing value");
  EXPECT_STREQ(error.what(),
               "cars.csv:7: column 'hp': '?' is a missing value (use missing=drop, or "
               "missing=impute)");
  EXPECT_EQ(error_text(error, {as_flag}),
            "cars.csv:7: column 'hp': '?' is a missing value (use --missing drop, or --missing "
            "impute)");
  EXPECT_EQ(error_text(error, {.option = as_flag, .lines = false, .first_row = 0}),
            "cars.csv: row 5: column 'hp': '?' is a missing value (use --missing drop, or "
            "--missing impute)");
}

TEST(Error, ThePlaceIsWhatIsKnown) {
  EXPECT_EQ(text({}), "is wrong");
  EXPECT_EQ(text({.source = "a.csv"}), "a.csv: is wrong");
  EXPECT_EQ(text({.line = 3}), "line 3: is wrong");
  EXPECT_EQ(text({.row = 3}), "row 4: is wrong");
  EXPECT_EQ(text({.source = "a.csv", .line = 3, .row = 1}), "a.csv:3: is wrong");
  EXPECT_EQ(text({.source = "a.csv", .row = 1, .column = "c"}),
            "a.csv: row 2: column 'c': is wrong");
  // A line that no row is known for is better than no place.
  EXPECT_EQ(error_text(make({.line = 3}), {.option = as_flag, .lines = false}), "line 3: is wrong");
}

TEST(Error, AnOptionIsTheSubject) {
  EXPECT_EQ(text({.option = "split"}), "--split is wrong");
  EXPECT_EQ(text({.option = "unknown"}), "unknown is wrong");
  EXPECT_EQ(text({.column = "c", .option = "split", .named_in_problem = true}), "is wrong");
}

TEST(Error, RemediesAreJoined) {
  EXPECT_EQ(text({.remedies = {advice("give more rows")}}), "is wrong (give more rows)");
  EXPECT_EQ(text({.remedies = {advice("give more rows"),
                               {"a larger", "split", "", ""},
                               use("split", "cross", "where it is there")}}),
            "is wrong (give more rows, a larger --split, or use --split cross where it is there)");
  EXPECT_EQ(text({.remedies = {use("a", "1"), use("b", ""), use("c", "3")}}),
            "is wrong (use --a 1, --b, or --c 3)");
  EXPECT_EQ(text({.remedies = {use("unknown", "1")}}), "is wrong");
  EXPECT_EQ(text({.remedies = {use("unknown", "1"), use("b", "2")}}), "is wrong (use --b 2)");
}

TEST(Error, ASourceIsAddedInFront) {
  const Error error = make({.row = 2});
  EXPECT_STREQ(error.in_source("a.csv").what(), "a.csv: row 3: is wrong");
  EXPECT_STREQ(error.in_source("b").in_source("a").what(), "a: b: row 3: is wrong");
  EXPECT_EQ(error.in_source("a.csv").code(), ErrorCode::kBadData);
}

TEST(Error, ARefusedValueIsShown) {
  try {
    fail_option("missing", "skip", "must be error, drop or impute");
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "missing must be error, drop or impute, got 'skip'");
    EXPECT_EQ(error.details().option, "missing");
    EXPECT_EQ(error.details().value, "skip");
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace tare
