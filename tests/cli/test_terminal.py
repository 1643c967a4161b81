# SPDX-License-Identifier: BSD-3-Clause
"""Names and cells of a file that hold control characters: they reach a file as they are, and a terminal as \\x1b."""
from harness import CliTest, csv_text, main, points

RED = "\x1b[31mred\x07\x9b"
SHOWN = "\\x1b[31mred\\x07\\xc2\\x9b"


class Terminal(CliTest):
    def shows(self, *args):
        """What a run shows, on both streams; no control character but line breaks among it."""
        result = self.run_tool(*args)
        text = result.out + result.err
        bad = [c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)]
        self.assertEqual(bad, [], text)
        return text

    def setUp(self):
        super().setUp()
        rows = [[f"{RED}{i % 2}", *row] for i, row in enumerate(points(60))]
        self.write("data.csv", csv_text([f"{RED}c", f"{RED}a", "b", "p", "y"], rows))
        self.fit("data.csv", "--prediction", "p", "--bandwidth", "1")

    def test_tables(self):
        self.assertIn(SHOWN, self.shows("inspect", "m.tare"))

    def test_errors_and_warnings(self):
        self.write("new.csv", "b,p\n1,2\n")
        self.assertIn(f"has no column '{SHOWN}", self.shows("predict", "m.tare", "new.csv"))
        self.assertIn(SHOWN, self.shows("fit", "data.csv", "--target", "y", "--drop", f"{RED}x", "-o", "n.tare"))
        self.assertIn(SHOWN, self.shows("predict", "m.tare", f"{RED}.csv"))
        self.assertIn(SHOWN, self.shows(RED))
        self.assertIn("\\x0a", self.shows("predict", "m.tare", "two\nlines.csv"))
        self.assertIn("\\xff", self.run_tool("predict", "m.tare", b"\xff.csv".decode(errors="surrogateescape")).err)

    def test_data_stays_as_it_is(self):
        out = self.ok("predict", "m.tare", "data.csv", "--keep", f"{RED}c").out
        self.assertIn(f"\n{RED}1,", out)
        self.assertTrue(out.startswith(f"{RED}c,"))

    def test_letters_stay_as_they_are(self):
        self.assertIn("größe→é.csv: no such file", self.shows("predict", "m.tare", "größe→é.csv"))


if __name__ == "__main__":
    main()
