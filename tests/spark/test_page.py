# SPDX-License-Identifier: BSD-3-Clause
"""Runs the blocks of docs/scale.md about Spark, and those that they build on."""

import importlib.util
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_page_runs(spark, tmp_path, monkeypatch):
    reader = importlib.util.spec_from_file_location("doc_blocks", ROOT / "tools" / "doc_blocks.py")
    doc_blocks = importlib.util.module_from_spec(reader)
    sys.modules["doc_blocks"] = doc_blocks
    reader.loader.exec_module(doc_blocks)
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "scale.md"
    first, *others = doc_blocks.blocks_of(page)
    names = {"session": spark}
    for block in (first, *(block for block in others if block.mark == "needs: pyspark")):
        # Spark's own folder is where it was started.
        code = block.code.replace("SparkSession.builder.getOrCreate()", "session").replace('read.parquet("', f'read.parquet("{tmp_path}/')
        exec(compile("\n" * (block.line - 1) + code, str(page), "exec"), names)
    answers = names["answers"].toPandas()
    inside = (answers["lower_0.9"] <= answers["y"]) & (answers["y"] <= answers["upper_0.9"])
    assert 0.86 < inside.mean() < 0.95
