# SPDX-License-Identifier: BSD-3-Clause
"""Where results go: never over a file without --force, never half a file."""
import os
import subprocess
import unittest

from harness import DONE, NOT_FOUND, OTHER, SANITIZED, TOOL, USAGE, CliTest, main


class Files(CliTest):
    def setUp(self):
        super().setUp()
        self.small_model()

    def test_fit_does_not_overwrite_without_force(self):
        self.fails(USAGE, "fit", "data.csv", "--target", "y", "-o", "m.tare",
                   says=["m.tare: exists already", "--force"])

    def test_predict_does_not_overwrite_without_force(self):
        self.write("out.csv", "old")
        self.fails(USAGE, "predict", "m.tare", "data.csv", "-o", "out.csv", says=["out.csv: exists already", "--force"])
        self.ok("predict", "m.tare", "data.csv", "-o", "out.csv", "--force")
        self.assertEqual(self.read("out.csv"), self.ok("predict", "m.tare", "data.csv").bytes)

    def test_demo_does_not_overwrite_without_force(self):
        self.write("d.csv", "old")
        self.write("d.svg", "old")
        self.fails(USAGE, "demo", "--write", "d.csv", "--rows", "100", says=["d.csv: exists already", "--force"])
        self.fails(USAGE, "demo", "--rows", "200", "--test-rows", "10", "--regressor", "zero", "--plot", "d.svg",
                   says=["d.svg: exists already", "--force"])

    def test_output_folder_is_missing(self):
        where = os.path.join("no", "such", "x")
        says = [f"{where}: the folder", "does not exist"]
        self.fails(NOT_FOUND, "fit", "data.csv", "--target", "y", "-o", where, says=says)
        self.fails(NOT_FOUND, "predict", "m.tare", "data.csv", "-o", where, says=says)
        self.fails(NOT_FOUND, "demo", "--write", where, "--rows", "100", says=says)

    def test_output_is_a_folder(self):
        os.mkdir(self.path("folder"))
        for force in ([], ["--force"]):
            self.fails(USAGE, "fit", "data.csv", "--target", "y", "-o", "folder", *force, says=["folder: is a folder"])
            self.fails(USAGE, "predict", "m.tare", "data.csv", "-o", "folder", *force, says=["folder: is a folder"])

    def test_what_is_wrong_with_the_output_is_said_before_the_data_is_read(self):
        self.fails(NOT_FOUND, "fit", "nowhere.csv", "--target", "y", "-o", "no/x.tare", says=["no/x.tare"])

    @unittest.skipIf(os.getuid() == 0, "root may write anywhere")
    def test_folder_without_permission(self):
        os.mkdir(self.path("locked"), 0o500)
        self.fails(OTHER, "fit", "data.csv", "--target", "y", "-o", "locked/x.tare", says=["locked/x.tare", "Permission"])

    def test_output_may_replace_the_input(self):
        whole = self.ok("predict", "m.tare", "data.csv", "--keep", "all").bytes
        self.ok("predict", "m.tare", "data.csv", "--keep", "all", "-o", "data.csv", "--force")
        self.assertEqual(self.read("data.csv"), whole)

    def test_only_the_named_file_appears(self):
        before = set(self.snapshot())
        self.ok("predict", "m.tare", "data.csv", "-o", "out.csv")
        self.ok("fit", "data.csv", "--target", "y", "-o", "second.tare")
        self.ok("evaluate", "m.tare", "data.csv")
        self.ok("inspect", "m.tare")
        self.assertEqual(set(self.snapshot()) - before, {"out.csv", "second.tare"})

    def test_absolute_paths_and_odd_names(self):
        for name in ("a b.tare", "ümläut.tare", "quote'.tare", ".hidden.tare"):
            self.fit("data.csv", "--prediction", "p", output=self.path(name))
            self.ok("predict", name, "data.csv")

    def test_file_mode_follows_the_umask(self):
        self.ok("predict", "m.tare", "data.csv", "-o", "out.csv", limits=lambda: os.umask(0o027))
        self.assertEqual(os.stat(self.path("out.csv")).st_mode & 0o777, 0o640)

    def test_replaced_file_keeps_its_mode(self):
        for mode in (0o600, 0o664):
            os.chmod(self.path("m.tare"), mode)
            self.small_model()
            self.assertEqual(os.stat(self.path("m.tare")).st_mode & 0o777, mode)

    def test_replaced_link_stays_a_link(self):
        os.mkdir(self.path("models"))
        os.rename(self.path("m.tare"), self.path("models/first.tare"))
        os.symlink("models/first.tare", self.path("m.tare"))
        self.small_model(count=70)
        self.assertEqual(os.readlink(self.path("m.tare")), "models/first.tare")
        self.assertEqual(self.ok("inspect", "models/first.tare", "--json").json()["values"]["rows"], 70)

    def test_two_writers_of_one_file_leave_one_whole_file(self):
        whole = [self.ok("predict", "m.tare", "data.csv", "--levels", level).bytes for level in ("0.1", "0.9")]
        for _ in range(10):
            runs = [subprocess.Popen([TOOL, "predict", "m.tare", "data.csv", "--levels", level, "-o", "out.csv", "--force"],
                                     cwd=self.folder, stderr=subprocess.PIPE) for level in ("0.1", "0.9")]
            for run in runs:
                self.assertEqual(run.communicate()[1], b"")
                self.assertEqual(run.returncode, DONE)
            self.assertIn(self.read("out.csv"), whole)
        self.assertEqual(set(self.snapshot()), {"data.csv", "m.tare", "out.csv"})

    @unittest.skipIf(SANITIZED, "the sanitizer reads /proc")
    def test_without_proc_files_are_written_all_the_same(self):
        hide = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$0" "$@"']
        if subprocess.run([*hide, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("/proc cannot be hidden here")
        for line in (["predict", "m.tare", "data.csv", "-o", "out.csv"],
                     ["predict", "m.tare", "data.csv", "-o", "out.csv", "--force"]):
            done = subprocess.run([*hide, TOOL, *line], cwd=self.folder, capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (DONE, b""))
            self.assertEqual(self.read("out.csv"), self.ok("predict", "m.tare", "data.csv").bytes)
        self.assertEqual(set(self.snapshot()), {"data.csv", "m.tare", "out.csv"})


if __name__ == "__main__":
    main()
