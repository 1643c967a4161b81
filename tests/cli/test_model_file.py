# SPDX-License-Identifier: BSD-3-Clause
"""A model file that is not whole, not ours or not of our time is refused, never used wrongly."""
import concurrent.futures
import json
import os
import random
import struct
import zlib

from harness import BAD_DATA, EVERY_CASE, NOT_FOUND, USAGE, CliTest, main, run


def with_checksum(header, payload):
    """A file with this header and a checksum that fits it."""
    header["__metadata__"]["checksum"] = "0" * 8
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    digits = b"%08x" % zlib.crc32(payload, zlib.crc32(text))
    text = text.replace(b'"checksum":"00000000"', b'"checksum":"' + digits + b'"')
    return struct.pack("<Q", len(text)) + text + payload


class ModelFile(CliTest):
    def setUp(self):
        super().setUp()
        self.small_model(count=12)
        self.model = self.read("m.tare")
        length = struct.unpack("<Q", self.model[:8])[0]
        self.header = json.loads(self.model[8:8 + length])
        self.payload = self.model[8 + length:]
        self.quantiles = self.ok("predict", "m.tare", "data.csv").bytes

    def refused(self, content, says=()):
        self.write("bad.tare", content)
        for line in (["predict", "bad.tare", "data.csv", "-o", "out.csv"], ["evaluate", "bad.tare", "data.csv"],
                     ["inspect", "bad.tare"], ["inspect", "bad.tare", "--json"]):
            self.fails(BAD_DATA, *line, says=["bad.tare", *says])

    def test_truncated_at_many_lengths(self):
        size = len(self.model)
        for length in sorted({0, 1, 7, 8, 9, 100, size // 2, size - len(self.payload), size - 9, size - 8, size - 1}):
            self.refused(self.model[:length], says=["is not a tare model file" if length < 8 else "cut off"])

    def test_longer_than_it_should_be(self):
        self.refused(self.model + b"\0", says=["damaged"])

    def test_flipped_byte_at_every_place(self):
        rng = random.Random(1)
        places = range(0, len(self.model), 1 if EVERY_CASE else 25)

        def attempt(place):
            name = f"flip{place}.tare"
            content = bytearray(self.model)
            content[place] ^= 1 << rng.randrange(8)
            self.write(name, bytes(content))
            result = run("predict", name, "data.csv", cwd=self.folder, timeout=20)
            os.remove(self.path(name))
            return place, result

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for place, result in pool.map(attempt, places):
                if result.code == 0:
                    self.assertEqual(result.bytes, self.quantiles, f"byte {place} changed the answer")
                    continue
                self.assertIn(result.code, (BAD_DATA, NOT_FOUND), f"byte {place}: {result.code} {result.err}")
                self.assertTrue(result.err.startswith(f"error: flip{place}.tare: "), result.err)
                self.assertEqual(result.out, "")

    def test_newer_format(self):
        self.header["__metadata__"]["format_version"] = "2"
        self.refused(with_checksum(self.header, self.payload), says=["format version 2", "up to 1", "newer tare"])

    def test_not_a_model_file(self):
        for content in (b"", b"PK\x03\x04 a zip file of some length", b"a,b\n1,2\n" * 20, b"\0" * 4096, b"\xff" * 4096,
                        struct.pack("<Q", 2) + b"{}", struct.pack("<Q", 4) + b"null", struct.pack("<Q", 2**63) + b"{}"):
            self.refused(content, says=["is not a tare model file"])

    def test_safetensors_file_of_another_program(self):
        text = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
        self.refused(struct.pack("<Q", len(text)) + text + b"\0\0\0\0", says=["is not a tare model file"])

    def test_missing_model_and_folder_as_model(self):
        self.fails(NOT_FOUND, "predict", "nowhere.tare", "data.csv", says=["nowhere.tare: no such file"])
        self.fails(NOT_FOUND, "predict", "data.csv/m.tare", "data.csv", says=["data.csv/m.tare: no such file"])
        for line in (["predict", ".", "data.csv"], ["inspect", "."]):
            self.fails(BAD_DATA, *line, says=["a directory, not a file"])

    def test_lies_with_a_right_checksum_are_refused(self):
        rewritten = with_checksum(json.loads(json.dumps(self.header)), self.payload)
        self.write("same.tare", rewritten)
        self.assertEqual(self.ok("predict", "same.tare", "data.csv").bytes, self.quantiles)
        lies = [("tare.method", '"hnn"'), ("tare.method", "7"), ("tare.schema", "{}"), ("tare.schema", "nonsense"),
                ("tare.model.snq.rows", "1000000"), ("tare.model.snq.dims", "3"), ("tare.model.snq.kernel", '"round"'),
                ("tare.model.snq.bandwidth", "-1.0"), ("tare.model.features.inputs", "9"), ("tare.rows", '"many"'),
                ("tare.model.bandwidth_path", "[1]"), ("tare.model.point.members", "1000")]
        for key, value in lies:
            header = json.loads(json.dumps(self.header))
            self.assertIn(key, header["__metadata__"])
            header["__metadata__"][key] = value
            self.refused(with_checksum(header, self.payload))

    def test_brackets_without_end_are_refused(self):
        deep = "[" * 200_000 + "]" * 200_000
        header = json.loads(json.dumps(self.header))
        header["__metadata__"]["tare.model.extra"] = deep
        self.refused(with_checksum(header, self.payload))
        text = b'{"__metadata__":{"format":"tare"},"a":' + deep.encode() + b"}"
        self.refused(len(text).to_bytes(8, "little") + text)
        self.write("deep.json", deep)
        self.fails(USAGE, "fit", "data.csv", "--target", "y", "--config", "deep.json", "-o", "n.tare", says=["brackets"])
        self.fails(USAGE, "reproduce", "deep.json", says=["brackets"])

    def test_tensors_that_lie_about_their_place_are_refused(self):
        name = "model.snq.residuals"
        size = len(self.payload)
        for change in ({"shape": [10**6]}, {"shape": [2**62, 4]}, {"data_offsets": [0, size + 8]}, {"dtype": "F16"},
                       {"data_offsets": [size, 0]}, {"data_offsets": [-8, 0]}, {"shape": "x"}, {"shape": [-1]},
                       {"data_offsets": [4, 100]}):
            header = json.loads(json.dumps(self.header))
            header[name].update(change)
            self.refused(with_checksum(header, self.payload))
        header = json.loads(json.dumps(self.header))
        del header[name]
        self.refused(with_checksum(header, self.payload))

    def test_one_file_is_enough_to_predict_elsewhere(self):
        self.write_points("train.csv", 100)
        for method in ("nrc_rf", "pure_kernel"):
            self.fit("train.csv", "--method", method, output="only.tare")
            before = self.ok("predict", "only.tare", "data.csv").bytes
            os.rename(self.path("train.csv"), self.path("gone.csv"))
            os.mkdir(self.path("elsewhere"))
            os.rename(self.path("only.tare"), self.path("elsewhere/only.tare"))
            self.assertEqual(self.ok("predict", "elsewhere/only.tare", "data.csv").bytes, before)
            os.rename(self.path("gone.csv"), self.path("train.csv"))
            os.remove(self.path("elsewhere/only.tare"))
            os.rmdir(self.path("elsewhere"))


if __name__ == "__main__":
    main()
