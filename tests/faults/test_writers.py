# SPDX-License-Identifier: BSD-3-Clause
"""Two writers of one file: the whole file of one of them, and nothing else."""
import subprocess

from faults import RIGHT, WRONG, FaultTest, main

from harness import DONE, TOOL, USAGE


class Writers(FaultTest):
    def setUp(self):
        super().setUp()
        self.small_model(count=200)

    def both(self, first, second):
        processes = [subprocess.Popen([TOOL, *line], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                     for line in (first, second)]
        return [process.wait(60) for process in processes]

    def lines(self, output, *more):
        return [["predict", "m.tare", "data.csv", "--interval", level, "-o", output, *more] for level in ("0.5", "0.9")]

    def wholes(self):
        for _number, line in enumerate(self.lines("single.csv", "--force")):
            self.ok(*line)
            yield self.read("single.csv")

    def test_replacing(self):
        wholes = list(self.wholes())
        self.write("out.csv", "old")
        names = set(self.snapshot())
        for _trial in range(self.some(4, 100)):
            codes = self.both(*self.lines("out.csv", "--force"))
            good = codes == [DONE, DONE] and self.read("out.csv") in wholes and set(self.snapshot()) == names
            self.tally.add("two writers", "predict -o OLD --force", RIGHT if good else WRONG, f"{codes}, {sorted(self.snapshot())}")
        self.nothing_wrong()

    def test_new(self):
        """Without --force one of them writes, and the other one says that the file exists."""
        wholes = list(self.wholes())
        names = {*self.snapshot(), "new.csv"}
        for _trial in range(self.some(4, 100)):
            codes = self.both(*self.lines("new.csv"))
            winner = codes.index(DONE) if DONE in codes else None
            good = sorted(codes) == [DONE, USAGE] and self.read("new.csv") == wholes[winner] and set(self.snapshot()) == names
            self.tally.add("two writers", "predict -o NEW", RIGHT if good else WRONG, f"{codes}, {sorted(self.snapshot())}")
            self.restore({name: content for name, content in self.snapshot().items() if name != "new.csv"})
        self.nothing_wrong()

    def test_one_is_the_reader(self):
        """A file that is being replaced is read as a whole."""
        self.fit("data.csv", "--prediction", "p", "--bandwidth", "0.3", output="other.tare")
        answers = [self.ok("predict", name, "data.csv").bytes for name in ("m.tare", "other.tare")]
        self.fit("data.csv", "--prediction", "p", "--bandwidth", "0.3", output="m.tare")
        self.assertEqual(self.ok("predict", "m.tare", "data.csv").bytes, answers[1])
        for trial in range(self.some(3, 60)):
            writer = subprocess.Popen([TOOL, "fit", "data.csv", "--target", "y", "--prediction", "p", "--method", "nrc", "--bandwidth",
                                       ("1", "0.3")[trial % 2], "-o", "m.tare", "--force", "-q"], cwd=self.folder)
            good = True
            while writer.poll() is None:
                good = good and self.ok("predict", "m.tare", "data.csv").bytes in answers
            self.tally.add("two writers", "predict while fit -o OLD --force", RIGHT if good and writer.wait() == 0 else WRONG)
        self.nothing_wrong()


if __name__ == "__main__":
    main()
