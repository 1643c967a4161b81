# SPDX-License-Identifier: BSD-3-Clause
"""A contest on the user's own file."""
from harness import BAD_DATA, NOT_FOUND, USAGE, CliTest, main

METHODS = "pure_kernel,nrc,nrc_rf"


class Compare(CliTest):
    def setUp(self):
        super().setUp()
        self.write_points("data.csv", 120)

    def compare(self, *args):
        return self.ok("compare", "data.csv", "--target", "y", "--drop", "p", *(() if "--repeats" in args else ("--repeats", "3")), *args)

    def test_ranks_by_check_score(self):
        rows = self.compare("--methods", METHODS, "--json", "--set", "regressor=ridge").json()
        scores = [row["check_score"] for row in rows]
        self.assertEqual(scores, sorted(scores))
        self.assertEqual(len(rows), 3)
        self.assertEqual(rows[0]["behind"], 0)
        self.assertTrue(rows[0]["tied"])
        for row in rows[1:]:
            self.assertLessEqual(row["behind_low"], row["behind"])
            self.assertLessEqual(row["p"], row["p_corrected"])
            self.assertEqual(row["survives"], row["p_corrected"] <= 0.05)
            for name in ("MACE", "AGCE", "Coverage"):
                self.assertEqual(row[name], row[name + "_counted"])  # no ties here
        self.assertEqual({row["comparisons"] for row in rows}, {3})

    def test_a_person_can_read_it(self):
        text = self.compare("--methods", METHODS).out
        self.assertIn("best", text)
        self.assertIn("CheckScore", text)
        self.assertIn("3 pairs of methods were compared", text)
        self.assertIn("Holm's correction", text)

    def test_goes_on_from_its_results(self):
        first = self.compare("--methods", "pure_kernel,nrc", "--out", "r.csv", "--json").json()
        before = self.read("r.csv")
        self.assertEqual(self.compare("--methods", "pure_kernel,nrc", "--out", "r.csv", "--json").json(), first)
        self.assertEqual(self.read("r.csv"), before)
        both = self.compare("--methods", METHODS, "--out", "r.csv", "--json").json()
        self.assertEqual(len(both), 3)

    def test_threads_do_not_matter(self):
        one = self.compare("--methods", METHODS, "--json", "--threads", "1").json()
        self.assertEqual(self.compare("--methods", METHODS, "--json", "--threads", "4").json(), one)

    def test_reads_standard_input(self):
        self.ok("compare", "-", "--target", "y", "--methods", "pure_kernel", "--repeats", "2",
                stdin=self.read("data.csv"))

    def test_the_page_shows_the_same_ranking(self):
        done = self.compare("--methods", "pure_kernel,nrc", "--set", "regressor=ridge", "--json", "--report", "c.html")
        page = self.read("c.html").decode()
        for row in done.json():
            self.assertIn(f"{row['method']} regressor=ridge: ", page)
        self.assertIn("Ranking by CheckScore", page)
        self.assertIn("One pair of methods was compared.", page)
        self.assertNotIn("could not be fitted", page)
        self.fails(USAGE, "compare", "data.csv", "--target", "y", "--methods", "nrc", "--report", "c.html", says=["c.html", "--force"])
        self.compare("--methods", "nrc", "--repeats", "1", "--set", "regressor=ridge", "--report", "c.html", "--force")
        self.assertIn("There is no other method to compare with", self.read("c.html").decode())

    def test_slips(self):
        self.fails(NOT_FOUND, "compare", "none.csv", "--target", "y", says=["none.csv"])
        self.fails(NOT_FOUND, "compare", "data.csv", "--target", "z", says=["'z'"])
        self.fails(NOT_FOUND, "compare", "data.csv", "--target", "y", "--methods", "magic", says=["magic"])
        self.fails(USAGE, "compare", "data.csv", "--target", "y", "--methods", "nrc,NRC", "--out", "r.csv", says=["twice"])
        self.fails(USAGE, "compare", "data.csv", "--target", "y", "--methods", "", says=["--methods", "empty"])
        self.write("holes.csv", "a,y\n1,2\n,3\n")
        self.fails(BAD_DATA, "compare", "holes.csv", "--target", "y", says=["holes.csv:3"])


if __name__ == "__main__":
    main()
