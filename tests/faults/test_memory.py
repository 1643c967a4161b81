# SPDX-License-Identifier: BSD-3-Clause
"""An allocation that fails: "out of memory", or the right answer; never a crash, and no blame on the data."""
import gzip

from faults import OUT_OF_MEMORY, FaultTest, main


class Memory(FaultTest):
    def setUp(self):
        super().setUp()
        self.small_model(count=200)
        self.write("data.csv.gz", gzip.compress(self.read("data.csv"), mtime=0))

    def fail_each(self, command, *line, few, many, fault=OUT_OF_MEMORY):
        self.sweep(fault, command, line, self.some(few, many))
        self.nothing_wrong()

    def test_start(self):
        self.fail_each("methods", "methods", few=4, many=1000)

    def test_fit(self):
        self.fail_each("fit nrc", "fit", "data.csv", "--target", "y", "--prediction", "p", "-o", "new.tare", "--threads", "1",
                       few=5, many=1500)

    def test_fit_forest(self):
        self.fail_each("fit nrc_rf", "fit", "data.csv", "--target", "y", "--method", "nrc_rf", "-o", "m.tare", "--force", "--threads", "1", few=1,
                       many=500)

    def test_fit_on_threads(self):
        self.fail_each("fit nrc_rf, 2 threads", "fit", "data.csv", "--target", "y", "--method", "nrc_rf", "-o", "m.tare", "--force", "--threads", "2",
                       few=1, many=200)

    def test_predict(self):
        self.fail_each("predict", "predict", "m.tare", "data.csv.gz", "-o", "out.csv", "--interval", "0.9", few=5, many=1500)

    def test_inspect(self):
        self.fail_each("inspect --json", "inspect", "m.tare", "--json", few=4, many=1000)


if __name__ == "__main__":
    main()
