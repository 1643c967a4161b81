# SPDX-License-Identifier: BSD-3-Clause
"""Prediction: columns by name, what is kept, what is added, and how it is written."""

from harness import HEADER, NOT_FOUND, USAGE, CliTest, csv_text, main, points


class Columns(CliTest):
    def setUp(self):
        super().setUp()
        self.small_model()
        self.expected = self.ok("predict", "m.tare", "data.csv").bytes

    def test_any_order_and_extra_columns(self):
        rows = points(60)
        self.write("new.csv", csv_text(["y", "extra", "p", "b", "note", "a"],
                                       [[r[3], "?", r[2], r[1], "inf", r[0]] for r in rows]))
        self.assertEqual(self.ok("predict", "m.tare", "new.csv").bytes, self.expected)

    def test_target_need_not_be_there(self):
        self.write("new.csv", csv_text(HEADER[:3], [row[:3] for row in points(60)]))
        self.assertEqual(self.ok("predict", "m.tare", "new.csv").bytes, self.expected)
        self.fails(NOT_FOUND, "evaluate", "m.tare", "new.csv", says=["new.csv: has no column 'y'", "target"])

    def test_missing_column_is_named(self):
        for column, what in (("b", "feature"), ("p", "prediction")):
            place = HEADER.index(column)
            header = [f"{name}{name}" if i == place else name for i, name in enumerate(HEADER)]
            self.write("new.csv", csv_text(header, points(60)))
            self.fails(NOT_FOUND, "predict", "m.tare", "new.csv", "-o", "out.csv",
                       says=[f"new.csv: has no column '{column}'", what])

    def test_one_row_is_enough(self):
        self.write("one.csv", "a,b,p\n1,2,3\n")
        self.assertEqual(len(self.ok("predict", "m.tare", "one.csv").table()), 1)

    def test_standard_output_holds_only_data(self):
        result = self.ok("predict", "m.tare", "data.csv", "--missing", "drop", "-v")
        self.assertEqual(len(result.rows()), 61)


class Categories(CliTest):
    def setUp(self):
        super().setUp()
        rows = [["red" if i % 2 else "blue", i % 10, (100 if i % 2 else 0) + i % 7] for i in range(80)]
        self.write("data.csv", csv_text(["colour", "n", "y"], rows))
        self.fit("data.csv", "--method", "pure_kernel", "--bandwidth", "0.5", "--split", "0.5")

    def test_text_is_one_hot_and_used(self):
        self.write("new.csv", "n,colour\n5,red\n5,blue\n")
        red, blue = self.ok("predict", "m.tare", "new.csv", "--levels", "0.5").numbers()
        self.assertGreaterEqual(red[0], 100)
        self.assertLess(blue[0], 10)
        self.assertIn("colour (2 categories)", self.ok("inspect", "m.tare").out)

    def test_unseen_category_is_counted_in_a_warning(self):
        self.write("new.csv", "colour,n\ngreen,1\nred,1\nRed,2\n")
        result = self.ok("predict", "m.tare", "new.csv")
        self.assertEqual(len(result.table()), 3)
        self.assertIn("warning: new.csv: 2 cells hold a category that was not there at fit", result.err)
        quiet = self.ok("predict", "m.tare", "new.csv", "--quiet")
        self.assertEqual((quiet.err, quiet.bytes), ("", result.bytes))

    def test_numbers_may_be_categories(self):
        rows = [[i % 3, i % 5, i % 7] for i in range(60)]
        self.write("codes.csv", csv_text(["code", "n", "y"], rows))
        self.fit("codes.csv", "--method", "pure_kernel", "--categorical", "code", output="codes.tare")
        self.assertIn("code (3 categories)", self.ok("inspect", "codes.tare").out)
        self.write("new.csv", "code,n\n7,1\n")
        self.assertIn("1 cells hold a category", self.ok("predict", "codes.tare", "new.csv").err)

    def test_categories_equal_their_indicators(self):
        rows = [["uvw"[i % 3], i * 7 % 11, i % 13] for i in range(90)]
        self.write("text.csv", csv_text(["c", "n", "y"], rows))
        self.write("dummy.csv", csv_text(["cu", "cv", "cw", "n", "y"],
                                         [[*(int(r[0] == k) for k in "uvw"), r[1], r[2]] for r in rows]))
        for name in ("text", "dummy"):
            self.fit(f"{name}.csv", "--method", "nrc", "--regressor", "ridge", output=f"{name}.tare")
        self.assertEqual(self.ok("predict", "text.tare", "text.csv").bytes,
                         self.ok("predict", "dummy.tare", "dummy.csv").bytes)

    def test_rows_in_another_order_give_the_same_vocabulary(self):
        self.write("new.csv", "colour,n\nblue,1\n")
        one = self.ok("predict", "m.tare", "new.csv").rows()[1]
        self.write("two.csv", "colour,n\nred,1\nblue,1\n")
        self.assertEqual(self.ok("predict", "m.tare", "two.csv").rows()[2], one)


class Keep(CliTest):
    NOTES = ['plain', 'a,b', 'say "hi"', 'two\nlines', '', ' spaced ', "ünïcode", '"']

    def setUp(self):
        super().setUp()
        self.small_model()
        quoted = ['"' + note.replace('"', '""') + '"' for note in self.NOTES]
        rows = [[note, *row] for note, row in zip(quoted, points(len(quoted)))]
        self.write("new.csv", csv_text(["the note", *HEADER], rows))

    def test_cells_survive_commas_quotes_and_line_breaks(self):
        result = self.ok("predict", "m.tare", "new.csv", "--keep", "the note,a")
        self.assertEqual(result.rows()[0], ["the note", "a", "q0.05", "q0.5", "q0.95"])
        self.assertEqual([row["the note"] for row in result.table()], self.NOTES)
        self.assertEqual([row["a"] for row in result.table()], [str(row[0]) for row in points(len(self.NOTES))])

    def test_keep_all(self):
        result = self.ok("predict", "m.tare", "new.csv", "--keep", "all", "--levels", "0.5")
        self.assertEqual(result.rows()[0], ["the note", *HEADER, "q0.5"])
        self.assertEqual([row["the note"] for row in result.table()], self.NOTES)

    def test_numbers_are_kept_as_they_were_written(self):
        self.write("new.csv", "a,b,p\n1.50,+2e0,003\n")
        self.assertEqual(self.ok("predict", "m.tare", "new.csv", "--keep", "a,b,p").rows()[1][:3], ["1.50", "+2e0", "003"])

    def test_unknown_column_to_keep(self):
        self.fails(NOT_FOUND, "predict", "m.tare", "new.csv", "-o", "out.csv", "--keep", "the_notes",
                   says=["new.csv: has no column 'the_notes' to keep", "did you mean the note?"])

    def test_json_lines_equal_the_csv(self):
        args = ["predict", "m.tare", "new.csv", "--keep", "the note", "--interval", "0.9", "--diagnostics"]
        table = self.ok(*args).table()
        objects = self.ok(*args, "--json").json_lines()
        self.assertEqual(len(objects), len(table))
        for row, item in zip(table, objects):
            # What the model does not know is an empty cell, and left out of the object.
            self.assertEqual([name for name in row if row[name] != "" or name == "the note"], list(item))
            self.assertEqual(row["the note"], item["the note"])
            self.assertEqual(row["fallback"] == "1", item["fallback"])
            self.assertEqual(row["outside"] == "1", item["outside"])
            for name in ("lower_0.9", "upper_0.9", "nearest"):
                self.assertEqual(float(row[name]), item[name])

    def test_kept_column_with_the_name_of_a_result_is_refused(self):
        self.write("new.csv", "a,b,p,q0.5\n1,2,3,4\n")
        self.fails(USAGE, "predict", "m.tare", "new.csv", "-o", "out.csv", "--keep", "all", says=["q0.5", "--keep"])

    def test_bytes_of_another_encoding_do_not_stop_json(self):
        self.write("new.csv", b"note,a,b,p\ncaf\xe9,1,2,3\n")
        self.assertEqual(len(self.ok("predict", "m.tare", "new.csv", "--keep", "note", "--json").json_lines()), 1)


class Diagnostics(CliTest):
    def test_columns_tell_how_much_is_behind_an_answer(self):
        self.write("data.csv", csv_text(["x", "p", "y"], [[i, 0, i % 4] for i in range(40)]))
        self.fit("data.csv", "--prediction", "p", "--kernel", "naive", "--bandwidth", "2", "--scale", "none",
                 "--min-support", "5", "--set", "ranks=paper")
        self.write("new.csv", "x,p\n20,0\n20.5,0\n0,0\n1000,0\n")
        result = self.ok("predict", "m.tare", "new.csv", "--diagnostics", "--levels", "0.5")
        self.assertEqual(result.rows()[0], ["q0.5", "effective_n", "nearest", "fallback", "outside", "q0.5_low",
                                            "q0.5_high"])
        # Calibration rows are 1 apart, and too few for bands.
        self.assertEqual([row[1:] for row in result.rows()[1:]],
                         [["", "0", "0", "0", "", ""], ["", "0.5", "0", "0", "", ""], ["", "0", "0", "0", "", ""],
                          ["", "961", "1", "1", "", ""]])
        self.assertIn("1 of 4 rows had no calibration row within the bandwidth", result.err)

    def test_marginal_fallback_uses_all_rows(self):
        self.write("data.csv", csv_text(["x", "p", "y"], [[i, 0, i] for i in range(40)]))
        self.fit("data.csv", "--prediction", "p", "--kernel", "naive", "--bandwidth", "2", "--scale", "none",
                 "--fallback", "marginal", "--set", "ranks=paper")
        self.write("new.csv", "x,p\n1000,0\n")
        self.assertEqual(self.ok("predict", "m.tare", "new.csv", "--levels", "0.5").numbers(), [[19]])

    def test_a_method_without_a_window_leaves_its_columns_empty(self):
        self.write("data.csv", csv_text(["x", "y"], [[i, i % 4] for i in range(60)]))
        self.fit("data.csv", "--method", "cqr_boost")
        args = ["predict", "m.tare", "data.csv", "--levels", "0.5", "--diagnostics"]
        rows = self.ok(*args).rows()
        self.assertEqual({len(row) for row in rows}, {7})
        self.assertEqual(rows[1][1:], [""] * 6)
        self.assertEqual(list(self.ok(*args, "--json").json_lines()[0]), ["q0.5"])

    def test_every_method_has_bands_where_they_are_asked_for(self):
        self.write("data.csv", csv_text(["x", "y"], [[i, i % 4 + i * 37 % 100 / 50] for i in range(150)]))
        for method in ("cqr_boost", "pure_kernel", "hnn"):
            self.fit("data.csv", "--method", method, "--bands", "on", "--force")
            args = ["predict", "m.tare", "data.csv", "--levels", "0.5", "--diagnostics"]
            table = self.ok(*args).table()
            for row, item in zip(table, self.ok(*args, "--json").json_lines()):
                self.assertLess(float(row["q0.5_low"]), float(row["q0.5_high"]))
                self.assertTrue(1 <= float(row["effective_n"]) <= 150)
                for name in ("effective_n", "q0.5_low", "q0.5_high"):
                    self.assertEqual(float(row[name]), item[name])
        self.fit("data.csv", "--method", "cqr_boost", "--bands", "off", "--force")
        self.assertEqual(self.ok(*args).rows()[1][1:], [""] * 6)
        self.fails(USAGE, "fit", "data.csv", "--target", "y", "--bands", "yes", "-o", "n.tare", says=["bands is on, off or auto", "yes"])

    def test_a_kept_column_may_not_have_the_name_of_a_band(self):
        self.small_model()
        self.write("new.csv", "a,b,p,q0.5_low\n1,2,3,4\n")
        self.ok("predict", "m.tare", "new.csv", "--keep", "q0.5_low")
        self.fails(USAGE, "predict", "m.tare", "new.csv", "--keep", "q0.5_low", "--diagnostics", says=["q0.5_low"])


if __name__ == "__main__":
    main()
