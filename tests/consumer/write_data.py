# SPDX-License-Identifier: BSD-3-Clause
"""A file with a column of text and one of numbers with gaps."""

import random
import sys

random.seed(19)
with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write("colour,size,y\n")
    for i in range(800):
        colour = random.choice(["red", "green", "blue"])
        size = random.random()
        y = {"red": 0.0, "green": 1.0, "blue": 2.0}[colour] + random.gauss(0.0, 0.2 + size)
        file.write(f"{colour},{'NA' if i % 50 == 0 else round(size, 6)},{y:.6f}\n")
