# SPDX-License-Identifier: BSD-3-Clause
"""Files that cannot be used: the message names file, line, column, value and remedy, and nothing is left behind."""
from harness import BAD_DATA, HEADER, NOT_FOUND, CliTest, csv_text, main, points


def broken(line, column, value):
    """A file with one cell replaced; `line` counts as an editor does."""
    rows = points(60)
    rows[line - 2][HEADER.index(column)] = value
    return csv_text(HEADER, rows)


class BadFiles(CliTest):
    def test_missing_file(self):
        self.fit_fails(NOT_FOUND, "nowhere.csv", says=["nowhere.csv: no such file"])

    def test_folder_instead_of_a_file(self):
        self.fit_fails(BAD_DATA, ".", says=["directory"])

    def test_empty_file(self):
        for content in ("", "\n\n", "\ufeff"):
            self.write("empty.csv", content)
            self.fit_fails(BAD_DATA, "empty.csv", says=["empty.csv: the file is empty", "header row"])

    def test_header_only(self):
        for content in ("a,y\n", "a,y", "a,y\r\n\r\n"):
            self.write("head.csv", content)
            self.fit_fails(BAD_DATA, "head.csv", says=["head.csv: the file has a header but no data rows"])

    def test_ragged_row_too_long_and_too_short(self):
        for extra, cells in (("1,2,3,4,5", 5), ("1,2,3", 3), ("1", 1)):
            lines = csv_text(HEADER, points(60)).splitlines()
            lines[16] = extra
            self.write("cars.csv", "\n".join(lines) + "\n")
            self.fit_fails(BAD_DATA, "cars.csv", says=[f"cars.csv:17: {cells} cell", "the header has 4", "missing?"])

    def test_blank_line_in_the_middle(self):
        lines = csv_text(HEADER, points(60)).splitlines()
        lines[16] = ""
        self.write("cars.csv", "\n".join(lines) + "\n")
        self.fit_fails(BAD_DATA, "cars.csv", says=["cars.csv:17: a blank line", "remove it"])

    def test_open_quote(self):
        self.write("cars.csv", broken(17, "a", '"1'))
        self.fit_fails(BAD_DATA, "cars.csv", says=["cars.csv:17", "quote"])

    def test_text_among_the_numbers_of_a_feature(self):
        self.write("cars.csv", broken(17, "b", "abc"))
        self.fit_fails(BAD_DATA, "cars.csv",
                       says=["cars.csv:17: column 'b': 'abc' is not a number", "--categorical b"])

    def test_text_among_the_numbers_of_the_target(self):
        self.write("cars.csv", broken(17, "y", "abc"))
        self.fit_fails(BAD_DATA, "cars.csv",
                       says=["cars.csv:17: column 'y': 'abc' is not a number (correct it or remove the row)"])

    def test_number_in_a_column_that_began_with_text_blames_the_text(self):
        self.write("cars.csv", broken(2, "b", "abc"))
        self.fit_fails(BAD_DATA, "cars.csv", says=["cars.csv:2: column 'b': 'abc' is not a number", "--categorical b"])

    def test_text_at_prediction_where_the_fit_had_numbers(self):
        model = self.small_model()
        self.write("new.csv", broken(17, "b", "abc"))
        self.fails(BAD_DATA, "predict", model, "new.csv", "-o", "out.csv",
                   says=["new.csv:17: column 'b': 'abc' is not a number", "model's feature", "correct it"])

    def test_infinite_value(self):
        for value in ("inf", "-Infinity", "1e999"):
            for column in ("a", "y"):
                self.write("cars.csv", broken(17, column, value))
                self.fit_fails(BAD_DATA, "cars.csv",
                               says=[f"cars.csv:17: column '{column}': '{value}' is not finite", "correct"])

    def test_duplicate_column(self):
        self.write("cars.csv", csv_text(["a", "b", "a", "y"], points(60)))
        self.fit_fails(BAD_DATA, "cars.csv", says=["cars.csv:1: column 'a' appears twice", "rename one"])

    def test_unknown_target_suggests_the_nearest(self):
        self.write("cars.csv", csv_text(["weight", "b", "p", "mpg"], points(60)))
        self.fit_fails(NOT_FOUND, "cars.csv", target="Mpgs", says=["cars.csv: has no column 'Mpgs'", "did you mean mpg?"])

    def test_unknown_target_without_a_near_one_lists_the_columns(self):
        self.write_points("cars.csv")
        self.fit_fails(NOT_FOUND, "cars.csv", target="kilometres", says=["'kilometres'", "it has: a, b, p, y"])

    def test_fewer_than_ten_calibration_rows(self):
        self.write_points("few.csv", 9)
        self.fit_fails(BAD_DATA, "few.csv", "--prediction", "p",
                       says=["few.csv: 9 calibration rows are too few", "10", "give more rows"])
        self.write_points("few.csv", 30)
        self.fit_fails(BAD_DATA, "few.csv", "--split", "0.3", says=["few.csv: 9 calibration rows", "larger --split"])

    def test_ten_calibration_rows_are_enough(self):
        self.write_points("ten.csv", 10)
        self.fit("ten.csv", "--prediction", "p")

    def test_nul_byte(self):
        self.write("cars.csv", csv_text(HEADER, points(60)).replace("\n", "\n\0", 3))
        self.fit_fails(BAD_DATA, "cars.csv", says=["cars.csv:2", "NUL"])

    def test_column_of_too_many_categories_names_the_way_out(self):
        rows = [[f"name {i}", i] for i in range(1200)]
        self.write("names.csv", csv_text(["id", "y"], rows))
        self.fit_fails(BAD_DATA, "names.csv", says=["names.csv: column 'id'", "1200", "--drop id"])

    def test_bad_input_at_prediction_and_evaluation(self):
        model = self.small_model()
        self.write("empty.csv", "")
        self.write("head.csv", "a,b,p,y\n")
        self.write("ragged.csv", "a,b,p,y\n1,2,3,4\n1,2,3\n")
        self.write("inf.csv", "a,b,p,y\n1,2,3,4\n1,inf,3,4\n")
        for name, code, says in (("nowhere.csv", NOT_FOUND, "nowhere.csv: no such file"),
                                 ("empty.csv", BAD_DATA, "empty.csv: the file is empty"),
                                 ("head.csv", BAD_DATA, "head.csv: the file has a header but no data rows"),
                                 ("ragged.csv", BAD_DATA, "ragged.csv:3: 3 cells"),
                                 ("inf.csv", BAD_DATA, "inf.csv:3: column 'b': 'inf'")):
            self.fails(code, "predict", model, name, "-o", "out.csv", says=[says])
            self.fails(code, "evaluate", model, name, says=[says])

    def test_standard_input_has_a_name_in_messages(self):
        self.fails(BAD_DATA, "fit", "-", "--target", "y", "-o", "m.tare", stdin=broken(17, "b", "abc").encode(),
                   says=["<stdin>:17: column 'b': 'abc'"])

    def test_text_of_another_encoding_is_refused_at_fit(self):
        rows = b"".join(b"%d,%s,%d\n" % (i, b"caf\xe9" if i == 5 else b"tea", i % 7) for i in range(60))
        self.write("latin.csv", b"x,drink,y\n" + rows)
        self.fit_fails(BAD_DATA, "latin.csv", says=["latin.csv:7: column 'drink'", "is not UTF-8", "iconv"])
        self.fit("latin.csv", "--drop", "drink")
        self.write("latin.csv", b"gr\xf6\xdfe,y\n" + b"1,2\n" * 60)
        self.fit_fails(BAD_DATA, "latin.csv", says=["latin.csv:1: column", "is not UTF-8", "iconv"])

    def test_long_cell_is_cut_in_the_message(self):
        self.write("cars.csv", broken(17, "b", "x" * 5000))
        self.assertLess(len(self.fit_fails(BAD_DATA, "cars.csv", says=["cars.csv:17", "..."]).err), 300)


if __name__ == "__main__":
    main()
