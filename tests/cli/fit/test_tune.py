# SPDX-License-Identifier: BSD-3-Clause
"""Options that are found on validation rows, and taken up by the other commands."""
import json
import os

from harness import NOT_FOUND, USAGE, CliTest, csv_text, main


class Tune(CliTest):
    def setUp(self):
        super().setUp()
        self.write_points("data.csv", 120)

    def tune(self, *args, output="c.json"):
        self.ok("tune", "data.csv", "--target", "y", "--drop", "p", "--methods", "nrc", "--set", "regressor=ridge",
                "--grid", "bandwidth=0.2,1,infinite", "--splits", "2", "-o", output, "-q", *args)
        return json.loads(self.read(output))

    def test_writes_a_configuration_that_fit_takes(self):
        config = self.tune()
        self.assertEqual(config["method"], "nrc")
        self.assertEqual(config["options"]["regressor"], "ridge")
        self.assertIn(config["options"]["bandwidth"], ["0.2", "1", "infinite"])
        self.assertEqual(config["found"]["settings_tried"], 3)
        self.fit("data.csv", "--drop", "p", "--config", "c.json", output="tuned.tare")
        self.fit("data.csv", "--drop", "p", "--method", "nrc", "--regressor", "ridge", "--bandwidth",
                 config["options"]["bandwidth"], output="told.tare")
        self.assertEqual(self.ok("predict", "tuned.tare", "data.csv").out, self.ok("predict", "told.tare", "data.csv").out)

    def test_a_flag_outranks_the_configuration(self):
        self.tune()
        self.fit("data.csv", "--drop", "p", "--config", "c.json", "--bandwidth", "0.7")
        self.assertIn("bandwidth=0.7", self.ok("inspect", "m.tare").out)

    def test_the_same_seed_gives_the_same_file(self):
        self.tune(output="a.json")
        self.tune("--threads", "1", output="b.json")
        self.assertEqual(self.read("a.json"), self.read("b.json"))

    def test_an_experiment_is_tuned_without_its_test_rows_and_goes_on(self):
        rows = [[i % 7, i % 11, (i % 7) + (i * 13 % 5)] for i in range(150)]
        self.write("energy.csv", csv_text(["a", "b", "heating_load"], rows))
        line = ["tune", "uci", "--data-folder", ".", "--cases", "Energy", "--methods", "nrc", "--set", "regressor=ridge",
                "--set", "reducer=none", "--grid", "bandwidth=0.5,2", "--splits", "1", "-o", "tuned", "-q"]
        self.ok(*line)
        name = "tuned/uci.Energy.nrc.json"
        config = json.loads(self.read(name))
        self.assertEqual((config["data"], config["experiment"]), ("Energy", "uci"))
        before = os.stat(self.path(name)).st_mtime_ns
        self.ok(*line)
        self.assertEqual(os.stat(self.path(name)).st_mtime_ns, before)
        self.ok("reproduce", "uci", "--data", ".", "--cases", "Energy", "--methods", "nrc", "--repeats", "1", "--configs",
                "tuned", "--out", "r", "-q")
        self.assertIn(("bandwidth=" + config["options"]["bandwidth"]).encode(), self.read("r/uci.csv"))

    def test_slips(self):
        line = ["tune", "data.csv", "--target", "y", "-o", "new.json"]
        self.fails(USAGE, *line, says=["--methods"])
        self.fails(NOT_FOUND, *line, "--methods", "magic", says=["magic"])
        self.fails(USAGE, *line, "--methods", "nrc", "--grid", "bandwidth", says=["--grid"])
        self.write("c.json", '{"method": "nrc_rf"}')
        self.fails(USAGE, "tune", "data.csv", "--target", "y", "--methods", "nrc", "-o", "c.json", says=["c.json"])
        self.fit_fails(USAGE, "data.csv", "--config", "c.json", "--method", "nrc", says=["c.json", "nrc_rf"])
        self.write("bad.json", "[1]")
        self.fit_fails(USAGE, "data.csv", "--config", "bad.json", says=["bad.json"])
        self.fit_fails(NOT_FOUND, "data.csv", "--config", "none.json", says=["none.json"])


if __name__ == "__main__":
    main()
