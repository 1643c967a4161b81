# SPDX-License-Identifier: BSD-3-Clause
"""A slip in an option is an error that lists what there is, and costs no work."""
from harness import NOT_FOUND, USAGE, CliTest, main

SLIPS = [
    (NOT_FOUND, ["--method", "nrc_fr"], ["'nrc_fr'", "nrc_rf", "nrc_rf_rp", "pure_kernel"]),
    (NOT_FOUND, ["--method", "nrc", "--regressor", "lasso"], ["'lasso'", "ridge", "forest", "boosting", "zero"]),
    (USAGE, ["--kernel", "gauss"], ["'gauss'", "naive", "epanechnikov", "triangular", "tricube", "laplace", "knn"]),
    (USAGE, ["--reducer", "pca"], ["'pca'", "none", "projection", "correlation"]),
    (USAGE, ["--scale", "minmax"], ["'minmax'", "standard", "none"]),
    (USAGE, ["--fallback", "none"], ["'none'", "nearest", "marginal"]),
    (USAGE, ["--missing", "skip"], ["'skip'", "error", "drop", "impute"]),
    (USAGE, ["--split", "crossed"], ["'crossed'", "cross", "time"]),
    (USAGE, ["--split", "0"], ["'0'", "between 0 and 1"]),
    (USAGE, ["--split", "1"], ["'1'", "between 0 and 1"]),
    (USAGE, ["--split", "time:1.5"], ["'time:1.5'", "time:SHARE"]),
    (USAGE, ["--split", "by:a"], ["'by:a'", "by:COLUMN=VALUE"]),
    (USAGE, ["--split", "by:=1"], ["by:COLUMN=VALUE"]),
    (NOT_FOUND, ["--split", "by:zz=1"], ["'zz'", "a, b, p, y"]),
    (USAGE, ["--bandwidth", "wide"], ["'wide'", "auto", "rate", "rate:C", "infinite"]),
    (USAGE, ["--bandwidth", "0"], ["'0'", "positive"]),
    (USAGE, ["--bandwidth", "-1"], ["'-1'", "positive"]),
    (USAGE, ["--bandwidth", "nan"], ["'nan'"]),
    (USAGE, ["--bandwidth", "rate:"], ["'rate:'", "rate:C"]),
    (USAGE, ["--dims", "0"], ["dims", "'0'"]),
    (USAGE, ["--dims", "two"], ["dims", "'two'"]),
    (USAGE, ["--split", "cross", "--folds", "1"], ["folds", "'1'"]),
    (USAGE, ["--min-support", "0"], ["support", "'0'"]),
    (USAGE, ["--seed", "-1"], ["--seed", "whole number", "'-1'"]),
    (USAGE, ["--seed", "one"], ["--seed", "whole number", "'one'"]),
    (USAGE, ["--threads", "-1"], ["--threads", "whole number", "'-1'"]),
    (USAGE, ["--threads", "1.5"], ["--threads", "whole number", "'1.5'"]),
    (USAGE, ["--timeout", "0"], ["--timeout", "seconds", "'0'"]),
    (USAGE, ["--timeout", "soon"], ["--timeout", "seconds", "'soon'"]),
    (USAGE, ["--set", "trees"], ["NAME=VALUE", "'trees'"]),
    (USAGE, ["--set", "=3"], ["NAME=VALUE"]),
    (USAGE, ["--set", "leaves=3"], ["'leaves'", "trees", "depth", "min_leaf"]),
    (USAGE, ["--method", "nrc", "--regressor", "ridge", "--set", "trees=3"], ["'trees'", "penalty"]),
    (USAGE, ["--set", "trees=many"], ["trees", "whole number", "'many'"]),
    (NOT_FOUND, ["--features", "a,bb"], ["'bb'", "did you mean b"]),
    (NOT_FOUND, ["--drop", "weights"], ["'weights'", "a, b, p, y"]),
    (NOT_FOUND, ["--calibrate-on", "weights"], ["'weights'", "a, b, p, y"]),
    (NOT_FOUND, ["--categorical", "weights"], ["'weights'", "a, b, p, y"]),
    (NOT_FOUND, ["--prediction", "yhat"], ["'yhat'", "prediction", "a, b, p, y"]),
    (NOT_FOUND, ["--weight", "weights"], ["'weights'", "a, b, p, y"]),
    (USAGE, ["--prediction", "p", "--predictor", "cat"], ["--prediction", "--predictor"]),
    (USAGE, ["--prediction", "p", "--regressor", "forest"], ["'forest'", "prediction"]),
    (USAGE, ["--prediction", "p", "--method", "nrc_rf"], ["prediction"]),
    (USAGE, ["--colour", "red"], ["--colour"]),
]


class WrongOptions(CliTest):
    def test_slips_of_fit(self):
        self.write_points("data.csv")
        for code, args, says in SLIPS:
            with self.subTest(args=args):
                self.fit_fails(code, "data.csv", *args, says=says)

    def test_an_empty_value_is_not_an_option_left_out(self):
        """As of a shell variable that is not set; it must not select the default."""
        model = self.small_model()
        says = "the value is empty; give one, or leave the option out"
        fit, predict = ["fit", "data.csv", "--target", "y", "-o", "n.tare"], ["predict", model, "data.csv"]
        track = ["track", "data.csv", "--target", "y"]
        lines = [(fit, ("--method", "--set", "--guarantee", "--features", "--drop", "--prediction", "--missing", "--group")),
                 (predict, ("--levels", "--interval", "--cost", "--set", "--keep", "--output")),
                 (track, ("--levels", "--keep", "--known-later")),
                 (["evaluate", model, "data.csv"], ("--fail-if", "--cost")),
                 (["report", model, "data.csv", "-o", "r.html"], ("--cost", "--set")),
                 (["compare", "data.csv", "--target", "y"], ("--methods", "--report")),
                 (["serve", model], ("--host", "--journal", "--token-file"))]  # fmt: skip
        for line, options in lines:
            for option in options:
                for words in ([option, ""], [f"{option}="]):
                    with self.subTest(command=line[0], words=words):
                        self.fails(USAGE, *line, *words, "--threads", "1", says=[f"{option}: {says}"])
        self.fails(USAGE, *predict, "--keep=", says=[f"--keep: {says}"])  # the last word
        self.fails(USAGE, *fit, "--seed", "", says=["--seed", "whole number"])

    def test_an_option_is_spelled_as_the_tool_takes_it(self):
        self.write_points("data.csv")
        for args, says in ((["--min-support", "0"], "--min-support must be"), (["--set", "trees=0"], "--set trees must be"),
                           (["--missing", "skip"], "--missing must be error, drop or impute, got 'skip'")):
            result = self.fit_fails(USAGE, "data.csv", *args, says=[says])
            self.assertNotIn("options", result.err)

    def test_required_options_of_fit(self):
        self.write_points("data.csv")
        self.fails(USAGE, "fit", "data.csv", "-o", "m.tare", says=["--target is required"])
        self.fails(USAGE, "fit", "data.csv", "--target", "y", says=["--output is required"])
        self.fails(USAGE, "fit", says=["required", "tare fit --help"])
        self.fails(USAGE, "fit", "data.csv", "--target", says=["--target"], default_method=True)

    def test_misspelt_option_is_named_where_a_required_one_is_missing(self):
        self.fails(USAGE, "fit", "data.csv", "--taget", "y", "-o", "m.tare", says=["--target", "'--taget'"])

    def test_slips_of_predict(self):
        self.small_model()
        for code, args, says in (
                (USAGE, ["--level", "0.5"], ["--level"]), (USAGE, ["data.csv"], ["data.csv"]),
                (USAGE, ["--missing", "skip"], ["'skip'", "error, drop or impute"]),
                (USAGE, ["--threads", "x"], ["whole number"]), (USAGE, ["--timeout", "-3"], ["seconds"]),
                (NOT_FOUND, ["--keep", "id"], ["'id'", "--keep all"])):
            with self.subTest(args=args):
                self.fails(code, "predict", "m.tare", "data.csv", "-o", "out.csv", *args, says=says)
        self.fails(USAGE, "predict", "m.tare", says=["data is required"])

    def test_slips_of_demo(self):
        for code, args, says in (
                (NOT_FOUND, ["--problem", "cosine"], ["'cosine'", "sine"]),
                (NOT_FOUND, ["--regressor", "lasso"], ["'lasso'", "ridge"]),
                (USAGE, ["--kernel", "gauss"], ["'gauss'", "gaussian"]),
                (USAGE, ["--rows", "3"], ["--rows"]), (USAGE, ["--share", "2"], ["--share"])):
            with self.subTest(args=args):
                self.fails(code, "demo", "--plot", "d.svg", *args, says=says)


if __name__ == "__main__":
    main()
