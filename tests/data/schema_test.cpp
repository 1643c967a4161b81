// SPDX-License-Identifier: BSD-3-Clause
#include "data/schema.h"

#include <gtest/gtest.h>

#include <cmath>

#include "expect_error.h"
#include "io/files/byte_source.h"

namespace tare {
namespace {

CsvReader reader_of(const std::string& text) {
  return CsvReader(bytes_in_memory("cars.csv", text));
}

struct Fitted {
  Schema schema;
  Encoded encoded;
};

Fitted fit(const std::string& text, const Roles& roles,
           MissingPolicy missing = MissingPolicy::kError) {
  CsvReader reader = reader_of(text);
  reader.select(Schema::fit_requests(reader.source(), reader.header(), roles));
  const Table table = read_all(reader);
  Schema schema = Schema::learn(table, roles);
  Encoded encoded = schema.encode(table, Need::kFeaturesAndTarget, missing);
  return {std::move(schema), std::move(encoded)};
}

Encoded apply(const Schema& schema, const std::string& text,
              MissingPolicy missing = MissingPolicy::kError) {
  CsvReader reader = reader_of(text);
  reader.select(schema.requests(reader.source(), reader.header(), Need::kFeatures));
  return schema.encode(read_all(reader), Need::kFeatures, missing);
}

Roles target(const std::string& name) {
  Roles roles;
  roles.target = name;
  return roles;
}

const std::string kCars = "hp,colour,mpg,w\n100,red,20,1\n90,blue,30,2\n80,red,40,3\n";

TEST(Schema, EveryOtherColumnIsAFeatureAndTextIsOneHot) {
  Roles roles = target("mpg");
  roles.weight = "w";
  const auto [schema, encoded] = fit(kCars, roles);
  EXPECT_EQ(schema.feature_names(), (std::vector<std::string>{"hp", "colour=blue", "colour=red"}));
  EXPECT_EQ(encoded.y, (std::vector<double>{20, 30, 40}));
  EXPECT_EQ(encoded.weight, (std::vector<double>{1, 2, 3}));
  EXPECT_TRUE(std::ranges::equal(encoded.x.row(1), std::vector<double>{90, 1, 0}));
}

TEST(Schema, ColumnsAreMatchedByNameInAnyOrderAndExtraOnesIgnored) {
  Roles roles = target("mpg");
  roles.drop = {"w"};
  const auto schema = fit(kCars, roles).schema;
  const Encoded other = apply(schema, "id,colour,hp\nx,blue,1\ny,red,2\n");
  EXPECT_TRUE(std::ranges::equal(other.x.row(0), std::vector<double>{1, 1, 0}));
  EXPECT_TRUE(std::ranges::equal(other.x.row(1), std::vector<double>{2, 0, 1}));
  expect_error(ErrorCode::kNotFound, "no column 'hp'", [&] { apply(schema, "colour\nred\n"); });
}

TEST(Schema, AnUnseenCategoryIsNoneOfTheKnownAndCounted) {
  Roles roles = target("mpg");
  roles.features = {"colour"};
  const auto schema = fit(kCars, roles).schema;
  const Encoded other = apply(schema, "colour\ngreen\nred\n");
  EXPECT_EQ(other.unseen, 1U);
  EXPECT_TRUE(std::ranges::equal(other.x.row(0), std::vector<double>{0, 0}));
}

TEST(Schema, NumbersCanBeCategories) {
  Roles roles = target("mpg");
  roles.categorical = {"hp"};
  roles.features = {"hp"};
  EXPECT_EQ(fit(kCars, roles).schema.feature_names(),
            (std::vector<std::string>{"hp=100", "hp=80", "hp=90"}));
}

TEST(Schema, ACalibrationColumnNeedNotBeAFeatureOfTheModel) {
  Roles roles = target("mpg");
  roles.drop = {"colour", "w"};
  roles.calibrate_on = {"colour"};
  const auto schema = fit(kCars, roles).schema;
  EXPECT_EQ(schema.feature_names().size(), 3U);
  EXPECT_EQ(schema.model_columns(), (std::vector<std::size_t>{0}));
  EXPECT_EQ(schema.columns_of({"colour"}), (std::vector<std::size_t>{1, 2}));
}

TEST(Schema, MissingValuesAreAnErrorThatCountsThem) {
  const std::string holes = "a,b,y\n1,2,3\n?,2,3\n,NA,4\n4,5,6\n";
  expect_error(ErrorCode::kBadData, "cars.csv:3: column 'a': '?' is a missing value, 2 of 4",
               [&] { fit(holes, target("y")); });
  const auto dropped = fit(holes, target("y"), MissingPolicy::kDrop).encoded;
  EXPECT_EQ(dropped.dropped, 2U);
  EXPECT_EQ(dropped.rows, (std::vector<std::size_t>{0, 3}));
  const auto imputed = fit(holes, target("y"), MissingPolicy::kImpute).encoded;
  EXPECT_EQ(imputed.imputed, 3U);
  EXPECT_EQ(imputed.x(1, 0), 4.0);  // the upper median of 1 and 4
  EXPECT_EQ(imputed.x(2, 1), 2.0);
}

TEST(Schema, ImputedValuesComeFromTheFitAndNotFromTheFileAtHand) {
  const auto schema = fit("a,c,y\n1,u,1\n2,v,2\n3,v,3\n", target("y")).schema;
  const Encoded other = apply(schema, "a,c\n100,u\n,?\n", MissingPolicy::kImpute);
  EXPECT_TRUE(std::ranges::equal(other.x.row(1), std::vector<double>{2, 0, 1}));
}

TEST(Schema, ATargetIsNeverImputed) {
  const std::string holes = "a,y\n1,2\n1,\n";
  expect_error(ErrorCode::kBadData, "is not imputed",
               [&] { fit(holes, target("y"), MissingPolicy::kImpute); });
  EXPECT_EQ(fit(holes, target("y"), MissingPolicy::kDrop).encoded.y, std::vector<double>{2});
}

TEST(Schema, ANegativeWeightIsNamedWithItsLine) {
  Roles roles = target("y");
  roles.weight = "w";
  expect_error(ErrorCode::kBadData, "cars.csv:3: column 'w': the weight -1",
               [&] { fit("a,w,y\n1,1,1\n1,-1,1\n", roles); });
}

TEST(Schema, NamesThatAreNotThereAreAnsweredWithTheNearest) {
  expect_error(ErrorCode::kNotFound, "did you mean mpg", [] { fit(kCars, target("mgp")); });
  Roles roles = target("mpg");
  roles.drop = {"id"};
  expect_error(ErrorCode::kNotFound, "'id'", [&] { fit(kCars, roles); });
}

TEST(Schema, RolesThatContradictEachOtherAreRefused) {
  Roles roles = target("mpg");
  roles.features = {"mpg"};
  expect_error(ErrorCode::kInvalidArgument, "'mpg' is the target", [&] { fit(kCars, roles); });
  roles = target("mpg");
  roles.prediction = "mpg";
  expect_error(ErrorCode::kInvalidArgument, "another role", [&] { fit(kCars, roles); });
}

TEST(Schema, EveryNameThatTheModelFileKeepsIsUtf8) {
  Roles roles = target("y\xe9");
  roles.split = "y\xe9";
  expect_error(ErrorCode::kBadData, "not UTF-8", [&] { fit("a,y\xe9\n1,2\n3,4\n", roles); });
  roles = target("y");
  roles.split = "s\xe9";  // it is not kept
  EXPECT_EQ(fit("a,y,s\xe9\n1,2,3\n3,4,5\n", roles).schema.inputs().size(), 1U);
}

TEST(Schema, AColumnOfNamesIsNotTakenForACategory) {
  std::string text = "id,y\n";
  for (int i = 0; i < 1500; ++i) text += "row" + std::to_string(i) + ",1\n";
  expect_error(ErrorCode::kBadData, "drop=id", [&] { fit(text, target("y")); });
}

TEST(Schema, RangesAreTheOuterPercentilesAndSurviveTheModelFile) {
  std::string text = "a,b,p,c,y\n";
  for (int i = 0; i < 201; ++i) {  // 0 to 200 in a mixed order
    const int value = i * 77 % 201;
    text += std::to_string(value) + "," + (i % 3 == 0 ? "" : std::to_string(-value)) + "," +
            std::to_string(10 * value) + ",x,1\n";
  }
  Roles roles = target("y");
  roles.prediction = "p";
  const Schema learnt = fit(text, roles, MissingPolicy::kImpute).schema;
  for (const Schema& schema : {learnt, Schema::from_json(learnt.to_json())}) {
    EXPECT_EQ(schema.inputs()[0].range->low, 2.0);
    EXPECT_EQ(schema.inputs()[0].range->high, 198.0);
    EXPECT_EQ(schema.inputs()[0].typical, 100.0);
    EXPECT_LT(schema.inputs()[1].range->low, -190.0);
    EXPECT_FALSE(schema.inputs()[2].range) << "a category has none";
    EXPECT_EQ(schema.given_ranges().at(0)->low, 20.0);
    EXPECT_EQ(schema.given_ranges().at(0)->high, 1980.0);
  }
  Json old = learnt.to_json();  // of a version that knew no ranges
  old.erase("prediction_ranges");
  old["inputs"][0].erase("range");
  EXPECT_FALSE(Schema::from_json(old).inputs()[0].range);
  EXPECT_FALSE(Schema::from_json(old).given_ranges().at(0));
  old["inputs"][0]["range"] = {2, 1};
  expect_error(ErrorCode::kCorruptFile, "range", [&] { Schema::from_json(old); });
  old["inputs"][0]["range"] = {2};
  expect_error(ErrorCode::kCorruptFile, "schema", [&] { Schema::from_json(old); });
}

TEST(Schema, TheRangeOfOnePredictionColumnOfTwoSurvivesTheModelFile) {
  Roles roles = target("y");
  roles.prediction = "p";
  roles.prediction_sd = "s";  // without a value in any row
  const Schema learnt = fit("a,p,s,y\n1,10,,1\n2,20,,2\n", roles, MissingPolicy::kDrop).schema;
  for (const Schema& schema : {learnt, Schema::from_json(learnt.to_json())}) {
    ASSERT_TRUE(schema.given_ranges().at(0));
    EXPECT_EQ(schema.given_ranges()[0]->low, 10.0);
    EXPECT_EQ(schema.given_ranges()[0]->high, 20.0);
    EXPECT_FALSE(schema.given_ranges().at(1));
  }
}

TEST(Schema, SurvivesTheModelFile) {
  Roles roles = target("mpg");
  roles.prediction = "w";
  Schema schema = fit(kCars, roles).schema;
  schema.set_missing(MissingPolicy::kImpute);
  schema.set_predictor("cmd");
  EXPECT_EQ(Schema::from_json(schema.to_json()).to_json(), schema.to_json());
  expect_error(ErrorCode::kCorruptFile, "schema",
               [] { Schema::from_json(Json::parse("{\"target\":1}")); });
  for (const Json& window : {Json(1e300), Json(-1), Json(1.5), Json("2"), Json(0)}) {
    Json json = schema.to_json();
    json["window"] = window;
    expect_error(ErrorCode::kCorruptFile, "window", [&] { Schema::from_json(json); });
  }
}

}  // namespace
}  // namespace tare
