# SPDX-License-Identifier: BSD-3-Clause
"""Where weights are computed is chosen by --device; without a GPU the processor answers, and says why."""
import os

from harness import USAGE, CliTest, main


class Device(CliTest):
    def setUp(self):
        super().setUp()
        self.small_model()
        self.usual = self.predict("cpu").out

    def predict(self, device, library="nowhere.so", **options):
        environment = {"TARE_CUDA_LIBRARY": library}
        return self.ok("predict", "m.tare", "data.csv", "--device", device, env=environment, timeout=30, **options)

    def test_names(self):
        for name in ("gpu", "", "cuda:", "cuda:-1", "cuda:x", "CUDA"):
            self.fails(USAGE, "predict", "m.tare", "data.csv", "--device", name, says=["--device", "auto, cpu, cuda or cuda:N"])

    def test_without_a_library_the_processor_answers_and_says_why(self):
        result = self.predict("cuda")
        self.assertEqual(result.out, self.usual)
        self.assertIn("warning: --device: libtare_cuda.so cannot be loaded", result.err)
        self.assertIn("the processor did the work", result.err)

    def test_what_is_no_library(self):
        self.write("text.so", "not a library")
        os.mkfifo(self.path("pipe.so"))
        for library, says in (("text.so", "cannot be loaded"), ("pipe.so", "is not a file"), (".", "is not a file"),
                              ("/dev/null", "is not a file")):
            result = self.predict("cuda", self.path(library))
            self.assertEqual(result.out, self.usual)
            self.assertIn(says, result.err)

    def test_auto_and_cpu_say_nothing(self):
        for device in ("auto", "cpu"):
            result = self.predict(device)
            self.assertEqual((result.out, result.err), (self.usual, ""))

    def test_a_model_file_does_not_depend_on_it(self):
        for device in ("cpu", "cuda"):
            self.fit("data.csv", "--device", device, output=f"{device}.tare", env={"TARE_CUDA_LIBRARY": "nowhere.so"})
        self.assertEqual(self.read("cpu.tare"), self.read("cuda.tare"))


if __name__ == "__main__":
    main()
