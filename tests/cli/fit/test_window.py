# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a series with their past: --window and the methods that look back."""
from harness import BAD_DATA, USAGE, CliTest, csv_text, main


class Window(CliTest):
    def write_series(self, name="series.csv", count=120, first=0):
        rows = [(t % 7, (t * 13) % 11, (t % 7) * 2 + t % 3) for t in range(first, first + count)]
        self.write(name, csv_text(["a", "b", "y"], rows))

    def test_rows_without_a_full_window_are_left_out_and_counted(self):
        self.write_series()
        result = self.ok("fit", "series.csv", "--target", "y", "--method", "nrc", "--regressor", "ridge", "--window", "4",
                         "-o", "m.tare", "--json")
        self.assertEqual(result.json()["rows_without_window"], 3)
        self.assertEqual(result.json()["rows"], 117)
        self.assertIn("3 rows at the start have no full window", result.err)
        predicted = self.ok("predict", "m.tare", "series.csv", "--keep", "y")
        self.assertIn("no full window of 4", predicted.err)
        self.assertEqual(len(predicted.table()), 117)
        whole = [row["y"] for row in predicted.table()]
        expected = [line.split(",")[2] for line in self.read("series.csv").decode().split()[4:]]
        self.assertEqual(whole, expected)

    def test_a_series_longer_than_a_batch_is_predicted_as_one(self):
        self.write_series()
        self.fit("series.csv", "--method", "nrc", "--regressor", "ridge", "--window", "3")
        self.write_series("long.csv", 40000)
        long = self.ok("predict", "m.tare", "long.csv").rows()
        self.assertEqual(len(long) - 1, 39998)
        self.write_series("tail.csv", 10000, first=30000)  # over the border of a batch at 32,768
        tail = self.ok("predict", "m.tare", "tail.csv").rows()
        self.assertEqual(long[-9998:], tail[1:])

    def test_a_series_is_split_in_time(self):
        self.write_series()
        self.fit_fails(USAGE, "series.csv", "--method", "nrc", "--regressor", "ridge", "--window", "4", "--split", "0.3",
                       says=["--split time"])
        self.fit_fails(USAGE, "series.csv", "--method", "nrc", "--window", "0", says=["--window"])

    def test_a_series_shorter_than_its_window_is_said_to_be(self):
        self.write_series(count=20)
        self.fit_fails(BAD_DATA, "series.csv", "--method", "nrc", "--regressor", "ridge", "--window", "19", says=["rows"])

    def test_lstm_nrc_looks_back_five_steps(self):
        self.write_series()
        self.fit("series.csv", "--method", "lstm_nrc", "--set", "epochs=2")
        values = self.ok("inspect", "m.tare", "--json").json()["values"]
        self.assertEqual(values["schema"]["window"], 5)
        self.assertEqual((values["model.snq.dims"], values["model.point.regressor"]), (4, "lstm"))


if __name__ == "__main__":
    main()
