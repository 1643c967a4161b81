#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the seeds of the fuzzers. The choices of a run stand behind its text, from the end (input.h).

    fuzz/make_seeds.py                       fuzz/seeds, all but the models
    fuzz/make_seeds.py --tool build/tare     and small models of every kind, in fuzz/seeds/model
"""
import argparse
import gzip
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

SEEDS = pathlib.Path(__file__).resolve().parent / "seeds"


def put(target, seeds):
    folder = SEEDS / target
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in seeds.items():
        (folder / name).write_bytes(content)


def choices(*values):
    """Bytes that a target takes one after the other, from the end."""
    return bytes(reversed(values))


def csv_seeds():
    def setting(kinds=(0,), batch=0, block=16, piece=64, threads=0, many=0):
        return choices(len(kinds) - 1, *kinds, batch, block, piece, threads, many)

    put("csv", {
        "plain": b"a,b,y\n1,2,3\n4.5,-6e3,7\n" + setting(),
        "quotes": b'\xef\xbb\xbf"a,1";b\r\n"x ""y""\nz";1\r\n" q ";NA\r\n\r\n' + setting((0, 5, 2, 3), 1, 2, 1),
        "tabs": b"id\tname\n1\t\xc3\xa9\n2\t\n?\tnull\n" + setting((4, 1), 2, 7),
        "many": b"x|y\n1|2\n3|4\n" + setting((2, 2), block=100, threads=1, many=7),
        "many_mixed": b'x,y\n1,2\n3,"4"\n 5 ,NA\n' + setting((2, 3), block=60, threads=1, many=7),
        "ragged": b"a,b\n1,2\n3\n" + setting(),
        "text_in_numbers": b"a\n1\nx\n" + setting((2,)),
        "blank_rows": b"a\n1\n\n\n2\n\n" + setting(batch=1),
        "open_quote": b'a\n"1\n2' + setting(),
    })


def gzip_seeds():
    packed = gzip.compress(b"a,b\n1,2\n" * 20, mtime=0)
    empty = zlib.compressobj(9, zlib.DEFLATED, -15).flush()
    # Choices: how (0 as it is, 1 packed here, 2 with a byte changed, 3 cut off), step, change, place, level, strategy,
    # zeros, two members.
    put("gzip", {
        "raw": packed + choices(0, 9),
        "members": packed + packed + b"\0" * 5 + choices(0, 200),
        "short": packed[:30] + choices(0, 1),
        "tail": packed + b"x" + choices(0, 3),
        "plain": b"a,b\n1,2\n" + choices(0, 3),
        "packed": b"abcabcabcabc" * 9 + choices(1, 7, 0, 0, 0, 6, 1, 3, 1),
        "changed": b"hello hello hello" + choices(2, 4, 65, 0, 12, 9, 0, 0, 0),
        "cut": b"hello hello hello" + choices(3, 4, 65, 0, 10, 5, 0, 0, 0),
        "named": b"\x1f\x8b\x08\x1c\0\0\0\0\0\x03\x02\0xyf.csv\0comment\0" + empty + b"\0" * 8 + choices(0, 255),
    })


def schema_seeds():
    def setting(roles=(), window=(0,), missing=0):
        return choices(0, *window, missing, *(list(roles) + [250] * 32)[:32])

    table = b"y,a,c,w\n1,2,u,1\n2,3,v,2\n3,,u,0\n4,5,NA,1\n"
    other = b"\n---\nc,a,y\nu,1,2\nz,2,\nv,,3\n"
    start = b'{"target":"y","weight":"w","predictor":"","window":1,'
    number = b'{"name":"a","categorical":false,"vocabulary":[],"typical":1.5,"for_model":true,"range":[0,3]}'
    category = b'{"name":"c","categorical":true,"vocabulary":["u","v"],"typical":0,"for_model":false}'
    put("schema", {
        "json": start + b'"prediction":"","missing":"error","inputs":[' + number + b"," + category + b"]}" + choices(3),
        "json_group": start + b'"prediction":"m","prediction_sd":"s","prediction_ranges":[[0,1],[1,2]],'
                      b'"missing":"impute","group":{"name":"c","values":["","u"]},"inputs":[]}' + choices(3),
        "json_quantiles": start + b'"prediction":"","prediction_quantiles":[{"name":"q","level":0.1},'
                          b'{"name":"r","level":0.9}],"missing":"drop","inputs":[]}' + choices(3),
        "json_folds": start + b'"prediction":"","prediction_folds":["f","g"],"missing":"drop","inputs":[]}' + choices(3),
        "table": table + setting(missing=2),
        "two": table + other + setting(missing=2),
        "two_weight": table + other + setting((0, 3), missing=2),
        "group": table + other + setting((0, 250, 2), missing=2),
        "window": table + other + setting(window=(3, 1), missing=2),
        "prediction": b"y,a,m,s\n1,2,3,1\n2,3,4,1\n\n---\na,m,s\n1,2,1\n"
                      + setting((0, 250, 250, 250, 0, 0, 0, 0, 0, 3, 2)),
        "categorical": table + setting((0, 250, 250, 250, 0, 0, 7, 1, 1, 0), missing=2),
    })


def body_seeds():
    predict = b"POST /v1/predict application/json\n"
    observe = b"POST /v1/observe application/json\n"
    put("body", {
        "json": predict + b'{"rows":[{"a":1,"c":"u"},{"a":2.5,"c":"v"}],"levels":[0.1,0.9]}' + choices(0),
        "interval": predict + b'{"interval":0.9,"rows":[{"c":"u","a":-1e3,"x":null}],"diagnostics":true}' + choices(0),
        "cost": predict + b'{"cost":{"over":1,"under":4},"rows":[{"a":1,"c":"u"}]}' + choices(0),
        "cost_table": predict + b'{"cost":{"action":[1,1,2],"outcome":[0,5,0],"cost":[3,-1e2,2]},"rows":[{"a":1,"c":"u"}]}' + choices(0),
        "query": b"POST /v1/predict?levels=0.1%2C0.5&interval=0.9&diagnostics=true&keep=a application/json\n"
                 b'{"rows":[{"a":1,"c":"u"}]}' + choices(0),
        "ndjson": b'POST /v1/predict application/x-ndjson\n{"a":1,"c":"u"}\n{"a":2,"c":"v"}\n' + choices(0),
        "csv": b'POST /v1/predict text/csv; charset=utf-8\na,c\n1,u\n2,"v"\n' + choices(0),
        "csv_keep": b"POST /v1/predict?keep=all text/csv\na;c;z\r\n1;u;\xc3\xa9\r\n" + choices(0),
        "teach": observe + b'{"rows":[{"a":1,"b":2,"p":3,"y":3.5},{"a":2,"b":0,"p":1,"y":2}],"ids":["r1","r1"]}' + choices(4),
        "teach_later": observe + b'{"ids":["r1","r2"],"targets":[1.5,2]}' + choices(4),
        "teach_csv": b"POST /v1/observe?id=k text/csv\nk,a,b,p,y\nr1,1,2,3,4\nr2,0,1,1,0.5\n" + choices(4),
        "stream": predict + b'{"rows":[{"a":1,"b":2,"p":3}],"ids":["r7"],"interval":0.9,"diagnostics":true}' + choices(4),
        "stream_card": b"GET /v1/model \n" + choices(4),
        "series": predict + b'{"rows":[{"a":1,"c":"u"},{"a":2,"c":"v"},{"a":1,"c":"u"},{"a":2,"c":"v"}]}' + choices(1),
        "group": predict + b'{"rows":[{"a":1,"c":"u","q0.1":1},{"a":2,"c":"z","q0.1":2}],"diagnostics":true}'
                 + choices(2),
        "quantiles": b"POST /v1/predict text/csv\na,q0.1,q0.9\n1,2,3\n" + choices(3),
        "observe": observe + b'{"rows":[{"a":1,"c":"u","y":3}]}' + choices(0),
        "ids": observe + b'{"ids":["ab-0","x"],"targets":[1,2]}' + choices(0),
        "observe_csv": b"POST /v1/observe text/csv\ny,c,a\n1,u,2\n" + choices(0),
        "observe_lines": b'POST /v1/observe application/x-ndjson\n{"a":1,"c":"u","y":1}' + choices(0),
        "model": b"GET /v1/model \n" + choices(0),
        "metrics": b"GET /metrics \n" + choices(0),
        "coverage": b"HEAD /v1/coverage \n" + choices(0),
        "page": b"GET / \n" + choices(0),
        "strings": predict + b'{"rows":[{"a":1e-5,"c":"\\u00e9\\ud83d\\ude00\\n\\"\\\\\\/","k":[1,{"b":[]}]}]}'
                   + choices(0),
    })


def http_seeds():
    body = b'{"rows":[{"a":1,"c":"u"}]}'
    post = b"POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    whole = b"Content-Length: %d\r\n\r\n" % len(body) + body
    put("http", {
        "get": b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" + choices(0, 0),
        "post": post + whole + choices(0, 0),
        "chunked": post + b"Transfer-Encoding: chunked\r\n\r\n%x;x=1\r\n" % len(body) + body
                   + b"\r\n0\r\nA: b\r\n\r\n" + choices(0, 0),
        "expect": post + b"Expect: 100-continue\r\n" + whole + choices(3, 60),
        "pipelined": b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"
                     b"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" + choices(3, 40),
        "token": b"GET /v1/model HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\nX-Request-Id: a-1\r\n"
                 b"\r\n" + choices(1, 0),
        "no_token": post + whole + choices(1, 0),
        "refused": b"GET / HTTP/1.0\r\n\r\n" + choices(2, 0),
        "strange_coding": post + b"Transfer-Encoding: xchunked\r\n\r\n" + body + choices(0, 0),
        "long": post + b"Content-Length: 99999\r\n\r\n" + body + choices(0, 0),
        "many_rows": b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nContent-Length: 284\r\n"
                     b"\r\na,c\n" + b"1,u\n" * 70 + choices(0, 0),
    })


def journal_seeds():
    def word(value):
        return value.to_bytes(4, "little")

    def record(data):
        length = word(len(data))
        return length + word(zlib.crc32(length)) + data + word(zlib.crc32(data))

    def journal(header, *records, version=1):
        start = b"TAREJRNL" + word(version) + word(len(header))
        return start + word(zlib.crc32(start)) + header + word(zlib.crc32(header)) + b"".join(map(record, records))

    header = (b'{"target":"y","columns":["a","b"],"features":2,"source":"column","method":"snq","levels":[0.05,0.95],"start":10,'
              b'"delay":0,"known_later":[],"params":{"window":"50"},"drift_rate":0.01,"seed":0,"rows":40,"model":"version"}')
    numbers = struct.pack("<8d", 1.0, 2.0, 0.5, -3.0, 5.0, 1e300, 0.0, 7.0)
    # Choices: which of the four uses; then damage, place, change, and the number and lengths of records; or the wrong row, and how.
    put("journal", {
        "raw": journal(b"header", b"one", b"", b"two") + choices(0),
        "torn": journal(b"header", b"one", b"two")[:-5] + choices(0),
        "zeros": journal(b"header", b"one") + bytes(40) + choices(0),
        "version": journal(b"header", version=2) + choices(0),
        "whole": b"abcdefghij" * 9 + choices(1, 0, 0, 0, 0, 4, 3, 0, 9, 30),
        "changed": b"abcdefghij" * 9 + choices(1, 1, 0, 60, 4, 4, 3, 0, 9, 30),
        "cut": b"abcdefghij" * 9 + choices(1, 2, 0, 70, 0, 4, 3, 0, 9, 30),
        "rows": numbers * 4 + choices(2, 7, 3),
        "wrong_sequence": numbers * 4 + choices(2, 1, 0),
        "short_row": numbers * 4 + choices(2, 2, 1),
        "header": header + choices(3),
    })


def plan_seeds():
    def seed(kind, text):
        return text.encode() + choices(kind)

    put("plan", {
        "law": seed(0, '{"name":"x","repeats":2,"cases":[{"name":"c","test":"law","problem":"hetero_1","rows":100,'
                       '"test_rows":10}],"methods":["hnn","nrc_rp dims=30"]}'),
        "file": seed(0, '{"name":"x","seed":3,"test_share":0.2,"cases":[{"name":"c","file":"f.csv","target":"y",'
                        '"test":"file","test_file":"g.csv","drop":["a"],"missing":"impute"},{"name":"d",'
                        '"file":"f.csv","target":"y","test":"column","column":"c","train_value":"1","test_value":"2"},'
                        '{"name":"e","file":"f.csv","target":"y","test":"resampled","test_rows":5}],'
                        '"methods":["nrc"]}'),
        "figure": seed(0, '{"name":"x","figure":"f","paper":"p","title":"t","calibrate_share":0.4,"cases":[{"name":"c",'
                          '"file":"f.csv","target":"y","test":"last","categorical":["k"],"features":["k"],'
                          '"origin":"o"}],"methods":["lstm_hnn units=8"]}'),
        "config": seed(1, '{"method":"hnn","options":{"batch":"10","rate":0.1},"data":"Energy","experiment":"uci"}'),
        "params": seed(2, "regressor=ridge dims=4 kernel=naive bandwidth=0.5 bounds=0,10 guarantee=split:0.2,strict "
                          "bands=off masses=yes split=time:0.2 units=8,8"),
        "params2": seed(2, "guarantee=cross:5 split=cross bounds=auto ranks=paper reducer=projection scale=standard "
                           "units=3 screen=yes bands=auto"),
        "fit": seed(3, "target=y\nmethod=nrc\nfeatures=a,b\nprediction_quantiles=q*,b=0.5\nmissing=impute\nwindow=3\n"
                       "seed=7\nsplit=cross\n"),
        "predict": seed(4, "levels=0.05,0.95\ninterval=0.9,0.5\ndiagnostics=yes\nkeep=a,b\nmissing=drop\n"),
        "levels": seed(5, "0.01,0.5,1e-10,0.999"),
    })


def capi_seeds():
    def table(where, rows):
        return [3, where, rows - 4] + [i * 7 % 16 for i in range(3 * rows)] + [i % 2 for i in range(rows)]

    # Calls: 0 new table, 1 and 2 a column, 3 usual columns, 4 and 5 fit, 6 save and open, 7 and 8 predict, 9 read, 10 CSV,
    # 11 describe, 12 files, 13 free, 14 track, 15 update.
    put("capi", {
        "kernel": bytes([*table(0, 20), 4, 0, 1, 0, 0, 0, 0, 0, 0, 7, 1, 3, 0, 0, 0, 0, 0, 9, 0, 0, 11, 0, 0]),
        "nrc": bytes([*table(0, 24), 5, 1, 2, 0, 3, 0, 0, 0, 0, 0, 6, 0, 0, 0, 1, 8, 2, 0, 3, 0, 0, 1, 1, 0,
                      9, 1, 3, 10, 0, 0, 0, 12, 3, 97, 98, 99, 0, 0, 0]),
        "guarantee": bytes([*table(1, 30), 4, 1, 3, 10, 7, 5, 0, 0, 1, 0, 0, 7, 1, 3, 0, 1, 0, 0, 0, 9, 0, 0]),
        "track": bytes([*table(0, 30), 14, 1, 0, 0, 0, 0, 0, 0, 0, 0, 15, 0, 0, 0, 1, 9, 0, 0, 11, 0, 0]),
        "track_model": bytes([*table(0, 24), 4, 0, 1, 0, 0, 0, 0, 0, 0, 14, 1, 10, 1, 0, 0, 0, 0, 0, 0, 15, 0, 0, 0, 1, 6, 0, 0, 0, 1]),
        "columns": bytes([0, 0, 0, 1, 0, 0, 3, 4, 0, 0, 8, 16, 24, 32, 2, 0, 0, 2, 4, 2, 0, 1, 2, 3, 13, 0, 1]),
    })


# Options that make a model small: what a seed needs is each kind of part, once. One of `auto` is not small; tests/cli/old_models
# has one.
NETWORK = ["--set", "hidden=2", "--set", "epochs=2", "--set", "batch=32"]
TREES = ["--set", "depth=2"]
MODELS = {
    "nrc_ridge": ["--method", "nrc", "--regressor", "ridge"],
    "nrc_mlp": ["--method", "nrc_embed", *NETWORK, "--set", "dims=2"],
    "nrc_forest": ["--method", "nrc_rf_rp", "--set", "trees=2", *TREES, "--set", "dims=2"],
    "nrc_extra": ["--method", "nrc", "--regressor", "extra_trees", "--set", "trees=2", "--set", "min_leaf=10"],
    "nrc_cross": ["--method", "nrc_cov", "--regressor", "ridge", "--split", "cross", "--folds", "2", "--set", "dims=2"],
    "lstm_nrc": ["--method", "lstm_nrc", "--window", "2", "--set", "units=2", "--set", "epochs=2", "--set", "folds=2"],
    "nrc_boost": ["--method", "nrc_boost", "--set", "rounds=2", *TREES, "--set", "folds=2"],
    "pure_kernel": ["--method", "pure_kernel", "--bandwidth", "1"],
    "line": ["--method", "pure_kernel", "--features", "a", "--index", "line", "--kernel", "naive"],
    "hnn": ["--method", "hnn", *NETWORK],
    "mc_dropout": ["--method", "mc_dropout", *NETWORK, "--set", "passes=3"],
    "deep_ensemble": ["--method", "deep_ensemble", *NETWORK, "--set", "members=2"],
    "mmd": ["--method", "mmd", *NETWORK],
    "isr": ["--method", "isr", *NETWORK],
    "lstm_hnn": ["--method", "lstm_hnn", "--window", "2", "--set", "units=2", "--set", "epochs=2"],
    "cqr_boost": ["--method", "cqr_boost", "--set", "rounds=2", "--set", "members=1", *TREES],
    "qrf": ["--method", "qrf", "--set", "trees=2", "--set", "min_leaf=8"],
    "ngboost": ["--method", "ngboost", "--set", "rounds=2", *TREES, "--set", "distribution=lognormal", "--target", "w"],
    "idr": ["--method", "idr", "--regressor", "ridge", "--set", "folds=2", "--set", "knots=10"],
    "cqr": ["--method", "cqr", *NETWORK],
    "oqr": ["--method", "oqr", *NETWORK],
    "maqr": ["--method", "maqr", *NETWORK],
    "ccl": ["--method", "ccl", *NETWORK],
    "dgp": ["--method", "dgp", "--set", "width=2", "--set", "inducing=3", "--set", "epochs=1", "--set", "samples=2"],
    "kernel_density": ["--method", "kernel_density", "--set", "cells=2", "--set", "min_cell=5"],
    "paic": ["--method", "paic", *NETWORK, "--set", "forecasts=3"],
    "kqr": ["--method", "kqr", "--set", "most_rows=10", "--set", "penalty=0.01", "--set", "kernel_width=1"],
    "distribution_calibration": ["--method", "distribution_calibration", *NETWORK, "--set", "inducing=2"],
    "split": ["--method", "pure_kernel", "--split", "0.6", "--guarantee", "split:0.5", "--group", "c"],
    "cross": ["--method", "pure_kernel", "--split", "0.6", "--guarantee", "cross:2"],
    "local": ["--method", "pure_kernel", "--split", "0.6", "--guarantee", "local,fixed,share=0.5"],
    "conditional": ["--method", "pure_kernel", "--split", "0.6", "--guarantee", "conditional:a,groups,kernel:2,share=0.5", "--group", "c"],
    "loose": ["--method", "pure_kernel", "--split", "0.6", "--guarantee", "loose:0.5"],
    "masses": ["--method", "pure_kernel", "--split", "0.6", "--masses", "yes", "--bounds", "0,", "--target", "n"],
    "bands": ["--method", "pure_kernel", "--split", "0.6", "--bands", "on"],
    "given": ["--method", "nrc", "--split", "0.6", "--prediction", "q0.1", "--prediction-sd", "w", "--guarantee", "cross:2"],
    "quantiles": ["--method", "nrc", "--prediction-quantiles", "q*"],
    "weight": ["--method", "nrc", "--regressor", "ridge", "--weight", "w", "--missing", "impute"],
}

# Models that learn: each method of streams, a delay with a column that is known later, and one around another model.
STREAMS = {
    "online_snq": ["--set", "window=50"],
    **{f"online_{method}": ["--method", method] for method in ("aci", "dtaci", "tracker", "pid", "eci", "enbpi", "trailing")},
    "online_late": ["--set", "window=50", "--delay", "2", "--known-later", "w", "--levels", "0.1,0.5,0.9"],
}


def make_model(command, name):
    done = subprocess.run([*command, "--force", "-q"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr}")


def model_seeds(tool):
    folder = SEEDS / "model"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        data = pathlib.Path(work) / "rows.csv"
        lines = ["a,c,w,q0.1,q0.9,n,y"]
        for i in range(40):
            a = i * 7 % 13
            lines.append(f"{a},{'uv'[i % 2]},{1 + i % 3},{a - 3},{a + 3},{max(0, i % 4 - 1)},{i * 5 % 11 + a}")
        data.write_text("\n".join(lines) + "\n")
        for name, options in MODELS.items():
            target = [] if "--target" in options else ["--target", "y"]
            columns = [] if "--features" in options else ["--features", "a,c"]
            bands = [] if "--bands" in options else ["--bands", "off"]
            make_model([tool, "fit", str(data), "-o", str(folder / name), *target, *columns, *bands, *options], name)
        stream = [tool, "track", str(data), "-o", f"{work}/answers.csv", "--features", "a,c,w", "--start", "20"]
        for name, options in STREAMS.items():
            make_model([*stream, "--target", "y", "--prediction", "q0.1", "--save", str(folder / name), *options], name)
        make_model([tool, "track", str(data), "-o", f"{work}/answers.csv", "--start", "20", "--set", "window=50",
                    "--model", str(folder / "pure_kernel"), "--save", str(folder / "online_model")], "online_model")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", help="a built tare, for the models")
    arguments = parser.parse_args()
    for write in (csv_seeds, gzip_seeds, schema_seeds, body_seeds, http_seeds, journal_seeds, plan_seeds, capi_seeds):
        write()
    if arguments.tool:
        model_seeds(arguments.tool)


if __name__ == "__main__":
    main()
