# SPDX-License-Identifier: BSD-3-Clause
"""Same seed, same bytes: whatever the threads, the folder, the locale."""
import os
import subprocess

from harness import SANITIZED, CliTest, main

FITS = [["--method", "nrc_rf"], ["--method", "nrc_rf_rp", "--dims", "1"], ["--method", "pure_kernel"],
        ["--method", "nrc", "--regressor", "boosting"], ["--method", "nrc", "--regressor", "ridge", "--split", "cross"],
        ["--method", "nrc", "--regressor", "forest", "--split", "cross", "--folds", "3"]]
if SANITIZED:  # each run is many times slower there
    FITS = FITS[1::2]


def locales():
    """Locales with a decimal comma, as far as this machine has them."""
    known = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    return ["C", "C.UTF-8"] + [name for name in known if name.lower().startswith(("de_de", "fr_fr", "ru_ru"))]


class Determinism(CliTest):
    def setUp(self):
        super().setUp()
        self.write_points("data.csv", 240)
        self.write_points("new.csv", 100, seed=2)

    def test_threads_do_not_change_a_byte(self):
        for args in FITS:
            results = set()
            for threads in ("1", "2", "8"):
                self.fit("data.csv", *args, "--seed", "5", "--threads", threads)
                predicted = self.ok("predict", "m.tare", "new.csv", "--diagnostics", "--threads", threads).bytes
                scores = self.ok("evaluate", "m.tare", "new.csv", "--json", "--threads", threads).bytes
                results.add((self.read("m.tare"), predicted, scores))
            self.assertEqual(len(results), 1, args)

    def test_another_seed_differs(self):
        for args in FITS:
            self.fit("data.csv", *args, "--seed", "5", output="five.tare")
            self.fit("data.csv", *args, "--seed", "6", output="six.tare")
            self.assertNotEqual(self.ok("predict", "five.tare", "new.csv").bytes,
                                self.ok("predict", "six.tare", "new.csv").bytes, args)

    def test_default_seed_is_fixed(self):
        self.fit("data.csv", output="one.tare")
        self.fit("data.csv", output="two.tare")
        self.assertEqual(self.read("one.tare"), self.read("two.tare"))

    def test_working_folder_and_paths_do_not_matter(self):
        self.fit("data.csv")
        os.mkdir(self.path("elsewhere"))
        self.ok("fit", "../data.csv", "--target", "y", "-o", "m.tare", cwd=self.path("elsewhere"))
        self.ok("fit", self.path("data.csv"), "--target", "y", "-o", self.path("third.tare"), cwd="/")
        self.assertEqual(self.read("m.tare"), self.read("elsewhere/m.tare"))
        self.assertEqual(self.read("m.tare"), self.read("third.tare"))

    def test_locale_does_not_matter(self):
        results = set()
        for name in locales():
            env = {"LC_ALL": name, "LANG": name}
            self.fit("data.csv", "--bandwidth", "0.5", env=env)
            results.add((self.read("m.tare"), self.ok("predict", "m.tare", "new.csv", env=env).bytes,
                         self.ok("evaluate", "m.tare", "new.csv", env=env).bytes))
        self.assertEqual(len(results), 1)

    def test_demo_repeats_itself(self):
        for name in ("one.csv", "two.csv"):
            self.ok("demo", "--write", name, "--rows", "200", "--seed", "4")
        self.ok("demo", "--write", "three.csv", "--rows", "200", "--seed", "5")
        self.assertEqual(self.read("one.csv"), self.read("two.csv"))
        self.assertNotEqual(self.read("one.csv"), self.read("three.csv"))


if __name__ == "__main__":
    main()
