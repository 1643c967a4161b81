// SPDX-License-Identifier: BSD-3-Clause
#include "apply/row_encoder.h"

#include <gtest/gtest.h>

#include "io/files/byte_source.h"

namespace tare {
namespace {

Table read_table(const std::string& text, const Schema* schema) {
  CsvReader reader(bytes_in_memory("t.csv", text), CsvReader::kBlockBytes);
  Roles roles;
  roles.target = "y";
  reader.select(schema != nullptr ? schema->requests("t.csv", reader.header(), Need::kFeatures)
                                  : Schema::fit_requests("t.csv", reader.header(), roles));
  Table table;
  reader.read(table, 100);
  return table;
}

Schema learned() {
  Roles roles;
  roles.target = "y";
  return Schema::learn(read_table("a,c,y\n1,red,1\n2,blue,2\n3,red,3\n", nullptr), roles);
}

TEST(RowEncoder, CountsWhatWasLeftOutFilledInOrUnknown) {
  const Schema schema = learned();
  RowEncoder dropping(schema, Need::kFeatures, MissingPolicy::kDrop);
  dropping.encode(read_table("a,c\n1,red\n,blue\n4,green\n", &schema));
  EXPECT_EQ(dropping.encoded().rows, (std::vector<std::size_t>{0, 2}));
  dropping.encode(read_table("a,c\n,red\n5,green\n", &schema));
  const auto notices = dropping.notices();
  ASSERT_EQ(notices.size(), 2U);
  EXPECT_EQ(notices[0].code, "dropped_rows");
  EXPECT_EQ(notices[0].rows, 2U);
  EXPECT_EQ(notices[1].code, "unseen_category");
  EXPECT_EQ(notices[1].rows, 2U);

  RowEncoder imputing(schema, Need::kFeatures, MissingPolicy::kImpute);
  imputing.encode(read_table("a,c\n,red\n", &schema));
  EXPECT_EQ(imputing.rows().x(0, 0), 2.0);
  ASSERT_EQ(imputing.notices().size(), 1U);
  EXPECT_EQ(imputing.notices()[0].code, "imputed_values");
}

TEST(RowEncoder, AWindowGoesOnFromTableToTable) {
  Schema schema = learned();
  schema.set_window(3);
  RowEncoder encoder(schema, Need::kFeatures, MissingPolicy::kError);
  encoder.encode(read_table("a,c\n1,red\n2,red\n", &schema));
  EXPECT_EQ(encoder.rows().x.rows(), 0U);
  encoder.encode(read_table("a,c\n3,red\n4,red\n", &schema));
  ASSERT_EQ(encoder.rows().x.rows(), 2U);
  EXPECT_EQ(some_rows(encoder.rows(), 1, 1).x(0, 0), 2.0);  // the oldest of rows 2, 3, 4
  ASSERT_EQ(encoder.notices().size(), 1U);
  EXPECT_EQ(encoder.notices()[0].code, "left_out_rows");
  EXPECT_EQ(encoder.notices()[0].rows, 2U);
}

TEST(RowEncoder, AnOutsideModelSeesTheRowsThatAreLeft) {
  Schema schema = learned();
  schema.set_predictor("a program");
  const OutsideModel row_numbers = [](const Table& table, const std::vector<std::string>& features,
                                      const std::vector<std::size_t>& rows) {
    EXPECT_EQ(table.rows(), 3U);
    EXPECT_EQ(features, (std::vector<std::string>{"a", "c"}));
    return std::vector<double>(rows.begin(), rows.end());
  };
  RowEncoder encoder(schema, Need::kFeatures, MissingPolicy::kDrop, row_numbers);
  encoder.encode(read_table("a,c\n1,red\n,blue\n4,red\n", &schema));
  EXPECT_EQ(encoder.rows().given(1, 0), 2.0);
}

}  // namespace
}  // namespace tare
