# SPDX-License-Identifier: BSD-3-Clause
"""SNQ against a slow oracle in 60 decimal digits, at ordinary and at extreme scales, and in units of powers of two."""
import random
from decimal import Decimal, getcontext

from harness import CliTest, main

getcontext().prec = 60
getcontext().Emin, getcontext().Emax = -999999, 999999

LEVELS = ["0.01", "0.1", "0.25", "0.5", "0.75", "0.9", "0.99"]
SLACK = Decimal("1e-12")  # cumulative weights that are short by less have reached a level


def kernel(name, r):
    if name == "gaussian":
        return (-(r * r) / 2).exp()
    if name == "laplace":
        return (-r).exp()
    if name == "naive":
        return Decimal(int(r <= 1))
    if name == "epanechnikov":
        return max(Decimal(0), 1 - r * r)
    return max(Decimal(0), 1 - r)  # triangular


def oracle(rows, at, name, bandwidth):
    """The paper's quantiles at `at`, and the other answers that rounding of the last digits of a weight may give."""
    weighted = sorted((Decimal(y), Decimal(w) * kernel(name, abs(Decimal(x) - Decimal(at)) / Decimal(bandwidth))) for x, w, y in rows)
    total = sum(weight for _, weight in weighted)
    answers = []
    for level in LEVELS:
        fits = set()
        for slack in (SLACK / 2, SLACK * 2):
            reached = Decimal(0)
            for y, weight in weighted:
                reached += weight
                if weight > 0 and reached >= Decimal(level) * total * (1 - slack):
                    fits.add(float(y))
                    break
        answers.append(fits)
    return answers


def sample(count, seed):
    rng = random.Random(seed)
    return [(rng.random(), rng.choice([0.5, 1.0, 3.0]), rng.gauss(0, 1)) for _ in range(count)]


class Oracle(CliTest):
    def answers(self, rows, queries, *flags):
        """A model on a prediction of 0: its residuals are the targets, and every row calibrates."""
        self.write("data.csv", "x,w,p,y\n" + "".join(f"{x!r},{w!r},0,{y!r}\n" for x, w, y in rows))
        self.write("queries.csv", "x,p\n" + "".join(f"{x!r},0\n" for x in queries))
        self.fit("data.csv", "--method", "nrc", "--prediction", "p", "--weight", "w", "--scale", "none", "--masses", "no",
                 "--bands", "off", "--bounds", "none", "--threads", "1", *flags)
        return self.ok("predict", "m.tare", "queries.csv", "--levels", ",".join(LEVELS), "-q", "--threads", "1").numbers()

    def test_quantiles_are_the_oracles(self):
        queries = [0.0, 0.3, 0.77]
        for name in ("gaussian", "laplace", "naive", "epanechnikov", "triangular"):
            for x_unit, y_unit, w_unit in ((1.0, 1.0, 1.0), (1e90, 1e300, 1e300), (1e-90, 1e-300, 1e-300), (1.0, 1e-310, 1e150)):
                rows = [(x * x_unit, w * w_unit, y * y_unit) for x, w, y in sample(60, seed=len(name))]
                asked = [x * x_unit for x in queries]
                bandwidth = 0.4 * x_unit
                found = self.answers(rows, asked, "--kernel", name, "--bandwidth", repr(bandwidth), "--ranks", "paper")
                for at, got in zip(asked, found):
                    for level, answer, fits in zip(LEVELS, got, oracle(rows, at, name, bandwidth)):
                        self.assertIn(answer, fits, f"{name}, units {x_unit}, {y_unit}, {w_unit}, x = {at}, level {level}")

    def test_powers_of_two_are_only_a_unit(self):
        queries = [0.1, 0.5, 0.9]
        for flags in (["--bandwidth", "0.4"], ["--bandwidth", "auto"], ["--bandwidth", "auto", "--kernel", "knn"]):
            rows = sample(60, seed=9)
            plain = self.answers(rows, queries, *flags)
            for power in (-900, -60, 60, 900):
                unit = 2.0**power
                scaled = self.answers([(x, w, y * unit) for x, w, y in rows], queries, *flags)
                self.assertEqual(scaled, [[q * unit for q in row] for row in plain], f"2^{power}, {flags}")
                heavier = self.answers([(x, w * unit, y) for x, w, y in rows], queries, *flags)
                self.assertEqual(heavier, plain, f"weights times 2^{power}, {flags}")


if __name__ == "__main__":
    main()
