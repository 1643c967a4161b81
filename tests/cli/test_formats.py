# SPDX-License-Identifier: BSD-3-Clause
"""The ways a table may be written: the same rows give the same bytes."""
import gzip
import os

from harness import BAD_DATA, HEADER, USAGE, CliTest, csv_text, main, points


class Formats(CliTest):
    def setUp(self):
        super().setUp()
        self.small_model()
        self.plain = csv_text(HEADER, points(60))
        self.expected = self.ok("predict", "m.tare", "data.csv").bytes

    def same(self, name, content):
        self.write(name, content)
        self.assertEqual(self.ok("predict", "m.tare", name).bytes, self.expected, name)
        self.fit(name, "--prediction", "p", "--bandwidth", "1", output="again.tare")
        self.assertEqual(self.read("again.tare"), self.read("m.tare"), name)

    def test_standard_input(self):
        data = self.plain.encode()
        self.assertEqual(self.ok("predict", "m.tare", "-", stdin=data).bytes, self.expected)
        self.assertEqual(self.ok("predict", "m.tare", "-", stdin=gzip.compress(data)).bytes, self.expected)
        self.fit("-", "--prediction", "p", "--bandwidth", "1", output="again.tare", stdin=data)
        self.assertEqual(self.read("again.tare"), self.read("m.tare"))

    def test_a_name_of_another_format_is_refused(self):
        for command in (("predict", "m.tare", "data.csv"), ("track", "data.csv", "--target", "y")):
            self.fails(USAGE, *command, "-o", "out.parquet", says=["out.parquet", "CSV", "Python package"])
            self.assertFalse(os.path.exists(self.path("out.parquet")))

    def test_gzip_by_content_and_not_by_name(self):
        packed = gzip.compress(self.plain.encode())
        self.same("d.csv.gz", packed)
        self.same("packed_without_saying_so.csv", packed)
        half = len(self.plain) // 2
        self.same("two_members.gz", gzip.compress(self.plain[:half].encode()) + gzip.compress(self.plain[half:].encode()))

    def test_damaged_gzip(self):
        packed = bytearray(gzip.compress(self.plain.encode()))
        self.write("cut.csv.gz", bytes(packed[:len(packed) // 2]))
        packed[len(packed) // 2] ^= 255
        self.write("flipped.csv.gz", bytes(packed))
        for name in ("cut.csv.gz", "flipped.csv.gz"):
            self.fails(BAD_DATA, "predict", "m.tare", name, "-o", "out.csv", says=[name])

    def test_delimiters(self):
        for name, delimiter in (("d.tsv", "\t"), ("d.csv", ";"), ("d.txt", "|")):
            self.same(name, csv_text(HEADER, points(60), delimiter))

    def test_line_ends_byte_order_mark_and_blank_lines_at_the_end(self):
        self.same("crlf.csv", self.plain.replace("\n", "\r\n"))
        self.same("bom.csv", "\ufeff" + self.plain)
        self.same("blank.csv", self.plain + "\n\r\n\n")
        self.same("unfinished.csv", self.plain.rstrip("\n"))

    def test_quoted_cells_and_spaces(self):
        rows = [[f'"{cell}"' for cell in row] for row in points(60)]
        self.same("quoted.csv", csv_text([f'"{name}"' for name in HEADER], rows))
        self.same("spaces.csv", self.plain.replace(",", " , "))

    def test_spellings_of_a_number(self):
        rows = points(60)
        rows = [[f"{row[0]:+.3f}", f"{row[1]:.8e}", f"{row[2]:.6f}", f"{row[3]}"] for row in rows]
        self.same("numbers.csv", csv_text(HEADER, rows))

    def test_output_is_comma_separated_whatever_came_in(self):
        self.write("d.csv", csv_text(HEADER, points(5), ";"))
        result = self.ok("predict", "m.tare", "d.csv", "--keep", "a")
        self.assertEqual(result.rows()[0], ["a", "q0.05", "q0.5", "q0.95"])
        self.assertNotIn(";", result.out)

    def test_thousand_columns_and_long_lines(self):
        header = [f"c{j}" for j in range(1000)] + ["y"]
        rows = [[(i * j) % 17 for j in range(1000)] + [i % 5] for i in range(40)]
        self.write("wide.csv", csv_text(header, rows))
        self.fit("wide.csv", "--method", "pure_kernel", output="wide.tare")
        self.assertEqual(len(self.ok("predict", "wide.tare", "wide.csv").table()), 40)


if __name__ == "__main__":
    main()
