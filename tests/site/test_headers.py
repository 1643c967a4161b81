# SPDX-License-Identifier: BSD-3-Clause
"""The reference of C++ and C: complete, and without what is private."""
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "site"))
import header_reference


class Headers(unittest.TestCase):
    def entries(self, text):
        with tempfile.TemporaryDirectory() as folder:
            header = pathlib.Path(folder) / "a.h"
            header.write_text(text, encoding="utf-8")
            return [entry for section in header_reference.sections_of(header) for entry in section.entries]

    def test_every_function_of_c_is_on_the_page(self):
        page = header_reference.c_page()
        names = re.findall(r"^TARE_C_API [^;(]*?\**(tare_\w+)\(", (ROOT / "include/tare/c.h").read_text(encoding="utf-8"), re.M)
        self.assertGreater(len(names), 25)
        for name in names:
            self.assertIn(f"### `{name}`", page)

    def test_every_class_of_cpp_is_on_the_page(self):
        page = header_reference.cpp_page()
        count = 0
        for header in (ROOT / "include/tare").rglob("*/*.h"):
            for name in re.findall(r"^(?:class|struct|enum class) (\w+)[^;]*\{", header.read_text(encoding="utf-8"), re.M):
                self.assertIn(f"#### `{name}`", page, header)
                count += 1
        self.assertGreater(count, 60)
        self.assertNotIn("private:", page)
        self.assertNotRegex(page, r"\n  \w+ \w+_;")

    def test_a_class_with_a_comment_and_private_members(self):
        (entry,) = self.entries("/// What it is.\n/// And why.\nclass A {\n public:\n  int a() const { return a_; }\n\n private:\n  int a_;\n};\n")
        self.assertEqual((entry.name, entry.comment), ("A", ["What it is.", "And why."]))
        self.assertEqual(entry.code, ["class A {", " public:", "  int a() const { return a_; }", "};"])

    def test_functions_over_several_lines_and_constants(self):
        one, two, three = self.entries("int f(int a,\n      int b);\ninline constexpr int kMost = 3;  // of all\n"
                                       "// Text.\ntemplate <class T>\nT g(T (*h)(int)) {\n  return h(1);\n}\n")
        self.assertEqual([one.name, two.name, three.name], ["f", "kMost", "g"])
        self.assertEqual(three.comment, ["Text."])

    def test_an_open_declaration_is_an_error(self):
        with self.assertRaises(ValueError):
            self.entries("struct A {\n  int a;\n")

    def test_words_of_a_comment_are_not_markup(self):
        self.assertEqual(header_reference.escaped("a < b, `x_y`, z_1 * 2"), "a \\< b, `x_y`, z\\_1 \\* 2")


if __name__ == "__main__":
    unittest.main()
