# SPDX-License-Identifier: BSD-3-Clause
"""Missing values: an error that counts them, unless the user says what to do."""
from harness import BAD_DATA, HEADER, USAGE, CliTest, csv_text, main, points

SPELLINGS = ["", "NA", "nan", "null", "?"]


def with_holes(column, lines, spelling="?", count=60):
    rows = points(count)
    for line in lines:
        rows[line - 2][HEADER.index(column)] = spelling
    return csv_text(HEADER, rows)


class Missing(CliTest):
    def test_error_names_the_place_the_count_and_both_remedies(self):
        for spelling in SPELLINGS:
            self.write("cars.csv", with_holes("b", [17, 20, 31], spelling))
            self.fit_fails(BAD_DATA, "cars.csv",
                           says=[f"cars.csv:17: column 'b': '{spelling}' is a missing value", "3 of 60 rows",
                                 "--missing drop", "--missing impute"])

    def test_missing_target_cannot_be_imputed(self):
        self.write("cars.csv", with_holes("y", [17]))
        self.fit_fails(BAD_DATA, "cars.csv", says=["cars.csv:17: column 'y'", "1 of 60", "(use --missing drop)"])
        self.fit_fails(BAD_DATA, "cars.csv", "--missing", "impute", says=["cars.csv:17", "target is not imputed"])
        self.fit("cars.csv", "--missing", "drop")

    def test_drop_equals_a_file_without_those_rows(self):
        holes = with_holes("b", [17, 20, 31])
        self.write("holes.csv", holes)
        lines = holes.splitlines()
        self.write("clean.csv", "\n".join(line for i, line in enumerate(lines, 1) if i not in (17, 20, 31)) + "\n")
        result = self.ok("fit", "holes.csv", "--target", "y", "--prediction", "p", "--missing", "drop", "-o", "m.tare")
        self.assertIn("warning: holes.csv: 3 rows with a missing value were left out", result.err)
        self.fit("clean.csv", "--prediction", "p", output="clean.tare")
        self.write_points("new.csv", 20, seed=5)
        self.assertEqual(self.ok("predict", "m.tare", "new.csv").bytes, self.ok("predict", "clean.tare", "new.csv").bytes)

    def test_impute_equals_the_median_in_place(self):
        rows = points(61)
        median = sorted(row[1] for i, row in enumerate(rows) if i not in (15, 18))[59 // 2]
        holes = [row[:] for row in rows]
        for i in (15, 18):
            holes[i][1] = "NA"
            rows[i][1] = median
        self.write("holes.csv", csv_text(HEADER, holes))
        self.write("clean.csv", csv_text(HEADER, rows))
        result = self.ok("fit", "holes.csv", "--target", "y", "--prediction", "p", "--missing", "impute", "-o", "m.tare",
                         "--json")
        self.assertIn("warning: holes.csv: 2 missing values were imputed", result.err)
        self.assertEqual((result.json()["imputed_cells"], result.json()["dropped_rows"]), (2, 0))
        self.fit("clean.csv", "--prediction", "p", output="clean.tare")
        self.assertEqual(self.ok("predict", "m.tare", "clean.csv").bytes,
                         self.ok("predict", "clean.tare", "clean.csv").bytes)

    def test_prediction_asks_before_a_row_vanishes(self):
        model = self.small_model()
        self.write("new.csv", with_holes("b", [4], count=10))
        self.fails(BAD_DATA, "predict", model, "new.csv", "-o", "out.csv",
                   says=["new.csv:4: column 'b'", "1 of 10 rows", "--missing drop, or --missing impute"])
        dropped = self.ok("predict", model, "new.csv", "--missing", "drop", "--keep", "a")
        self.assertEqual(len(dropped.table()), 9)
        self.assertNotIn(str(points(10)[2][0]), [row["a"] for row in dropped.table()])
        self.assertIn("1 rows with a missing value were left out", dropped.err)
        imputed = self.ok("predict", model, "new.csv", "--missing", "impute")
        self.assertEqual(len(imputed.table()), 10)
        self.assertIn("1 missing values were imputed", imputed.err)

    def test_model_fitted_with_impute_imputes_at_prediction(self):
        self.write("holes.csv", with_holes("b", [17]))
        self.fit("holes.csv", "--prediction", "p", "--missing", "impute")
        self.assertEqual(len(self.ok("predict", "m.tare", "holes.csv").table()), 60)
        self.fails(BAD_DATA, "predict", "m.tare", "holes.csv", "--missing", "error", says=["holes.csv:17"])

    def test_missing_prediction_is_never_imputed(self):
        model = self.small_model()
        self.write("new.csv", with_holes("p", [4], count=10))
        self.fails(BAD_DATA, "predict", model, "new.csv", "--missing", "impute", says=["new.csv:4: column 'p'", "drop"])

    def test_missing_category_is_imputed_with_the_most_frequent(self):
        rows = [["red" if i % 3 else "blue", i, i % 7] for i in range(60)]
        self.write("colours.csv", csv_text(["c", "p", "y"], rows))
        self.fit("colours.csv", "--prediction", "p", "--bandwidth", "0.1")
        self.write("new.csv", "c,p\n,1\nred,1\nblue,1\n")
        rows = self.ok("predict", "m.tare", "new.csv", "--missing", "impute").rows()
        self.assertEqual(rows[1], rows[2])

    def test_column_without_any_value_cannot_be_imputed(self):
        self.write("cars.csv", with_holes("b", range(2, 62)))
        self.fit_fails(BAD_DATA, "cars.csv", "--missing", "impute", says=["cars.csv:2: column 'b'", "--drop b"])

    def test_dropping_every_row_is_an_error(self):
        self.write("cars.csv", with_holes("b", range(2, 62)))
        self.fit_fails(BAD_DATA, "cars.csv", "--prediction", "p", "--missing", "drop", says=["cars.csv", "0 calibration"])

    def test_policy_is_one_of_three(self):
        self.write_points("cars.csv")
        self.fit_fails(USAGE, "cars.csv", "--missing", "guess", says=["error, drop or impute", "'guess'"])


if __name__ == "__main__":
    main()
