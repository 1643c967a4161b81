# SPDX-License-Identifier: BSD-3-Clause
"""A disk that fills up: an error, the previous file intact, nothing left."""
import resource

from harness import OTHER, CliTest, main

FULL = "/dev/full"


def small_files():
    """Writing past 4,096 bytes fails from here on, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


class FullDisk(CliTest):
    def setUp(self):
        super().setUp()
        self.small_model(count=400)

    def test_device_that_is_full(self):
        says = ["/dev/full: cannot be written: No space left on device"]
        self.fails(OTHER, "fit", "data.csv", "--target", "y", "-o", FULL, says=says)
        self.fails(OTHER, "predict", "m.tare", "data.csv", "-o", FULL, says=says)
        self.fails(OTHER, "demo", "--write", FULL, "--rows", "100", says=says)

    def test_standard_output_that_is_full(self):
        for line in (["predict", "m.tare", "data.csv"], ["predict", "m.tare", "data.csv", "--json"],
                     ["evaluate", "m.tare", "data.csv"], ["inspect", "m.tare"], ["inspect", "m.tare", "--json"],
                     ["methods"], ["--help"], ["--version"], ["fit", "--help"], ["completion", "bash"],
                     ["fit", "data.csv", "--target", "y", "-o", "-"]):
            with open(FULL, "wb") as full:
                self.fails(OTHER, *line, stdout=full, says=["standard output: cannot be written", "No space left"])

    def test_new_file_past_the_limit_is_not_left(self):
        says = ["cannot be written: File too large"]
        self.fails(OTHER, "predict", "m.tare", "data.csv", "-o", "out.csv", limits=small_files, says=["out.csv", *says])
        self.fails(OTHER, "fit", "data.csv", "--target", "y", "-o", "n.tare", limits=small_files, says=["n.tare", *says])

    def test_previous_file_past_the_limit_is_intact(self):
        self.write("out.csv", "the previous answer")
        self.fails(OTHER, "predict", "m.tare", "data.csv", "-o", "out.csv", "--force", limits=small_files)
        self.fails(OTHER, "fit", "data.csv", "--target", "y", "-o", "m.tare", "--force", limits=small_files)
        self.ok("predict", "m.tare", "data.csv")


if __name__ == "__main__":
    main()
