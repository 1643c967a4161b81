#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws what `gpu_engines sweep` printed: seconds against rows, for the processor and a GPU, both axes logarithmic.

    build/bench/gpu_engines sweep | bench/gpu/draw_sweep.py > docs/figures/gpu-time.svg
"""
import json
import math
import sys

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 130, 20, 50
LINES = (("processor", "16 cores", "#b45309"), ("gpu", "H200", "#1d4ed8"))


def ticks(low, high):
    return [10.0**k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def power(value):
    """A power of ten, as one writes it."""
    exponent = str(round(math.log10(value))).replace("-", "\u2212")
    return f'10<tspan dy="-6" font-size="10">{exponent}</tspan>'


def main():
    jobs = [json.loads(line) for line in sys.stdin if line.startswith("{")]
    rows = [job["n"] for job in jobs]
    times = [job[name] for job in jobs for name, _, _ in LINES]
    across, up = ticks(min(rows), max(rows)), ticks(min(times), max(times))

    def place(value, marks, start, end):
        share = math.log(value / marks[0]) / math.log(marks[-1] / marks[0])
        return round(start + share * (end - start), 1)

    def x(value):
        return place(value, across, LEFT, WIDTH - RIGHT)

    def y(value):
        return place(value, up, HEIGHT - BOTTOM, TOP)

    title = "Seconds for as many queries as rows, gaussian kernel, 4 features, 99 levels"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="sans-serif" font-size="13">',
        f"<title>{title}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for value in across:
        out.append(f'<line x1="{x(value)}" y1="{TOP}" x2="{x(value)}" y2="{HEIGHT - BOTTOM}" stroke="#e2e8f0"/>')
        out.append(f'<text x="{x(value)}" y="{HEIGHT - BOTTOM + 22}" text-anchor="middle" fill="#334155">{power(value)}</text>')
    for value in up:
        out.append(f'<line x1="{LEFT}" y1="{y(value)}" x2="{WIDTH - RIGHT}" y2="{y(value)}" stroke="#e2e8f0"/>')
        out.append(f'<text x="{LEFT - 10}" y="{y(value) + 4}" text-anchor="end" fill="#334155">{power(value)}</text>')
    for name, label, colour in LINES:
        points = [(x(job["n"]), y(job[name])) for job in jobs]
        path = " ".join(f"{a},{b}" for a, b in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{a}" cy="{b}" r="3.5" fill="{colour}"/>' for a, b in points]
        out.append(f'<text x="{points[-1][0] + 10}" y="{points[-1][1] + 4}" fill="{colour}">{label}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle" fill="#334155">rows, and queries</text>')
    out.append(f'<text transform="translate(18 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle" fill="#334155">seconds</text>')
    print("\n".join([*out, "</svg>"]))


if __name__ == "__main__":
    main()
