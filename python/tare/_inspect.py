# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted model says about itself, as text and as HTML: the facts that ``tare inspect`` prints."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, cast

Fact = tuple[str, str]
_MOST_NAMES = 20


def _listed(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    more = f", ... ({len(names)} in total)" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _number(value: float | str | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.4g}"


def _inputs(model: dict[str, Any]) -> str:
    names = []
    for column in model["inputs"]:
        kind = f" ({len(column['categories'])} categories)" if column["kind"] == "category" else ""
        names.append(column["name"] + kind + ("" if column["for_model"] else " (kernel only)"))
    return _listed(names)


def _given(model: dict[str, Any]) -> str:
    if model["given"] is None:
        return ""
    columns = model["given"]["columns"]
    names = [column["name"] for column in columns]
    kind = model["given"]["kind"]
    if kind == "mean_sd":
        return f"mean {names[0]}, standard deviation {names[1]}"
    if kind == "fold_points":
        return f"{_listed(names)}: one column for the model of each fold"
    if kind == "quantiles":
        return "quantiles " + _listed([f"{column['name']} (level {_number(column['level'])})" for column in columns])
    return str(names[0])


def _by_confidence(intervals: list[dict[str, Any]], member: str) -> str:
    items = []
    for interval in intervals:
        level = _number(interval["confidence"])
        if interval["infinite"]:
            items.append(f"{level}: 1 (infinite)")
        elif interval[member] == 0:
            items.append(f"{level}: nothing")
        else:
            items.append(f"{level}: {interval[member]:.4f}" + ("" if interval["kept"] else " (too few rows for more)"))
    return ", ".join(items)


def _form(of: dict[str, Any]) -> str:
    if of["form"] == "cross":
        return f"cross, {of['folds']} folds, {of['rows']} rows ranked"
    if of["form"] == "local":
        return f"local{', fixed' if of['local']['fixed'] else ''}, {of['rows']} rows ranked"
    if of["form"] == "loose":
        return f"loose, {of['rows']} rows ranked by a second model"
    if of["form"] == "conditional":
        return (
            f"conditional on {', '.join(of['conditions'])} ({of['functions']} independent functions of a row), {of['rows']} rows held out"
        )
    return f"split{', own levels where the ranks allow' if of['own_levels'] else ''}, {of['rows']} rows held out"


def _guarantee(model: dict[str, Any]) -> list[Fact]:
    of = model["guarantee"]
    if of is None:
        return [("guarantee", "none")]
    cross = of["form"] == "cross"
    delivers = _by_confidence(of["intervals"], "on_average")
    notes = {"cross": " (where the models of the folds agree)", "split": "", "loose": ""}
    note = notes.get(of["form"], " (where the held-out rows permit it)")
    facts = [("guarantee", _form(of)), ("delivers", ("at least " if of["own_levels"] else "") + delivers + note)]
    if of["local"] is not None and of["local"]["fixed"]:
        facts.append(("proven", "nothing for 'local,fixed': only the draw of 'local' has a proof"))
    if of["rows_depend"] and not cross:
        facts.append(
            ("proven", "nothing, because rows of the fit depend on each other: whole groups, or models trained on the rows before")
        )
    elif of["is_series"] and not cross:
        facts.append(("proven", "nothing, because rows in time order depend on each other; the last rows were held out"))
    elif cross:
        bound = (
            _by_confidence(of["intervals"], "proven")
            if of["has_bound"]
            else "no bound for rows in time order, in groups or of unequal weight"
        )
        facts.append(("proven", bound))
    if of["assumes_unseen_predictions"]:
        facts.append(("assumes", "the model behind the given predictions was not trained on the rows of this fit"))
    if of["shift_effective_rows"] is not None:
        facts.append(("shift", f"rows weighted towards shift_to; the effective sample size is {of['shift_effective_rows']:.0f}"))
    if model["group"] is not None and of["groups"]:
        groups = [f"{g['name']} ({g['rows']} rows{'' if g['has_own_ranks'] else ': as over all rows'})" for g in of["groups"]]
        facts.append(("groups", f"{model['group']['name']}: {_listed(groups)}"))
    return facts


def _rows(model: dict[str, Any]) -> str:
    trail = model["trail"]
    some = trail is not None and trail["eligible_rows"] > trail["trained_rows"]
    return f"{model['rows']} rows" + (f", learned from {trail['trained_rows']} of {trail['eligible_rows']}" if some else "")


def _bands(bands: dict[str, Any]) -> str:
    if bands["fits"] > 0:
        return f"from {bands['fits']} fits on {bands['rows_of_a_fit']} of {bands['rows']} rows"
    return {
        "not_asked": "none (fit with bands=True)",
        "too_few_rows": "none: they need 100 rows",
    }.get(
        bands["why_none"],
        "none: the method needs more than half of the rows, or many targets share a value that its quantiles never take "
        "(options={'masses': 'yes'})",
    )


def _bounds(bounds: dict[str, Any]) -> str:
    low, high = bounds["low"], bounds["high"]
    if high is None:
        return f"{_number(low)} and above"
    return f"{_number(high)} and below" if low is None else f"{_number(low)} to {_number(high)}"


def _kernel(model: dict[str, Any]) -> list[Fact]:
    facts = []
    first = " (of the model of the first fold)" if model["of_first_fold"] else ""
    if model["masses"] is not None:
        masses = model["masses"]
        whole = " and are whole numbers" if masses["whole"] else ""
        facts.append(("masses", f"quantiles can equal {_listed([_number(v) for v in masses['values']], 5)}{whole}{first}"))
    if model["kernel"] is not None:
        of = model["kernel"]
        facts += [
            ("calibration", f"{of['rows']} rows in {of['dims']} kernel features{first}"),
            ("point model", of["point_model"]),
            ("kernel", of["kernel"]),
            ("bandwidth", f"{_number(of['bandwidth'])} ({of['bandwidth_rule']})"),
            ("fallback", f"{of['fallback']}, {of['min_support']} rows"),
            ("index", of["index"]),
        ]
    if model["residual_trees"] is not None:
        facts += _trees(model["residual_trees"])
    return facts


def _trees(trees: dict[str, Any]) -> list[Fact]:
    def count(number: int | None) -> str:
        return "no trees" if number is None else f"{number} trees"

    along = {
        "all": "all columns, the prediction and the size",
        "column": str(trees["along_column"]),
        "prediction": "the prediction",
        "given_spread": "the given spread",
        "size": "the size estimated by the trees",
    }[trees["along"]]
    return [("residuals", f"center by {count(trees['center_trees'])}, size by {count(trees['size_trees'])}"), ("along", along)]


def facts_of(model: dict[str, Any]) -> list[Fact]:
    """Names and texts, of `describe()`. Facts that do not apply are left out."""
    options = " ".join(f"{name}={value}" for name, value in model["options"].items())
    facts = [
        ("method", model["method"]),
        ("options", options or "the method's defaults"),
        ("made by", f"tare {model['tare_version']}, seed {model['seed']}"),
        ("target", model["target"] or ""),
        ("prediction", _given(model)),
        ("weight", model["weight"] or ""),
        ("features", _inputs(model)),
        ("window", f"{model['window']} rows, in time order" if model["window"] > 1 else ""),
        ("missing", model["missing"] if model["missing"] != "error" else ""),
        ("fitted on", _rows(model)),
        *_guarantee(model),
        ("bands", _bands(model["bands"])),
        *(("warning", f"{warning['text']} [{warning['code']}]") for warning in model["warnings"]),
        ("bounds", _bounds(model["bounds"]) if model["bounds"] is not None else ""),
        *_kernel(model),
    ]
    return [(name, text) for name, text in facts if text]


Table = tuple[str, list[list[str]]]  # a title, and rows of which the first is the heading


def tables_of(model: dict[str, Any]) -> list[Table]:
    """What the fit tried: bandwidths, the candidates of 'auto', and tested columns."""
    tables: list[Table] = []
    kernel = model["kernel"]
    if kernel is not None and kernel["tried"]:
        rows = [["bandwidth", "loss", ""]]
        for trial in kernel["tried"]:
            chosen = "chosen" if trial["bandwidth"] == kernel["bandwidth"] else ""
            rows.append([_number(trial["bandwidth"]), f"{trial['loss']:.6g}", chosen])
        tables.append((f"bandwidths tried, by leave-one-out pinball loss over {kernel['rows_left_out']} rows", rows))
    trail = model["trail"]
    if trail is not None:
        rows = [["candidate", "loss", "bandwidth", "share"]]
        for step in trail["candidates"]:
            share = f"{100 * step['share']:.0f} %" if step["share"] > 0 else ""
            rows.append([step["name"], f"{step['loss']:.6g}", _number(step["bandwidth"]), share])
        rows.append(["average", f"{trail['average_loss']:.6g}", "", ""])
        budget = f" of budget {trail['budget']}" if trail["budget"] is not None else ""
        rounds = f", mean of {trail['rounds']} rounds of training (bandwidths of the first)" if trail["rounds"] > 1 else ""
        tables.append((f"candidates{budget}, by pinball loss on {trail['rows_left_out']} left-out rows{rounds}", rows))
    if model["screened"]:
        rows = [["column", "strength", "p", ""]]
        for column in sorted(model["screened"], key=lambda column: -cast(float, column["strength"])):
            kept = "feature of the kernel" if column["kept"] else ""
            rows.append([column["name"], f"{column['strength']:.1f}", f"{column['p_value']:.3f}", kept])
        tables.append(("columns tested: does the distribution of the residual depend on them?", rows))
    return tables


def text_table(rows: list[list[str]]) -> str:
    """Columns of equal width; the first is aligned left, the others right."""
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


_STYLE = (
    ".tare-facts{font:14px/1.45 system-ui,sans-serif;max-width:60em}"
    ".tare-facts table{border-collapse:collapse;margin:.3em 0}"
    ".tare-facts th,.tare-facts td{text-align:left;vertical-align:top;padding:.15em .9em .15em 0;border:0;background:none;white-space:normal}"
    ".tare-facts tr{background:none}"
    ".tare-facts th{font-weight:600;white-space:nowrap}"
    ".tare-facts summary{cursor:pointer}"
)


def html_table(rows: list[list[str]]) -> str:
    """All cells are escaped."""
    lines = ["<tr>" + "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in rows[0]) + "</tr>"]
    for row in rows[1:]:
        cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in row[1:])
        lines.append(f'<tr><th scope="row">{html.escape(row[0])}</th>{cells}</tr>')
    return "<table>" + "".join(lines) + "</table>"


def page_part(body: str) -> str:
    """HTML with the style of this package, which no other element of a notebook sees."""
    return f'<div class="tare-facts"><style>{_STYLE}</style>{body}</div>'


class Inspection:
    """What `inspect()` returns: text with `print` and at a prompt, HTML in a notebook.

    Attributes
    ----------
    facts : list of (str, str)
        Names and texts.
    """

    def __init__(self, title: str, model: dict[str, Any]) -> None:
        self.title = title
        self.facts = facts_of(model)
        self._tables = tables_of(model)

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.facts)
        lines = [self.title, *(f"{name.ljust(width)}  {text}" for name, text in self.facts)]
        for title, rows in self._tables:
            lines += ["", f"{title}:", text_table(rows)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(text)}</td></tr>' for name, text in self.facts)
        tables = "".join(f"<details><summary>{html.escape(title)}</summary>{html_table(table)}</details>" for title, table in self._tables)
        return page_part(f"<strong>{html.escape(self.title)}</strong><table>{rows}</table>{tables}")


def _shows_html() -> bool:
    """scikit-learn's setting, where it is installed."""
    try:
        from sklearn import get_config
    except ImportError:
        return True
    return bool(get_config()["display"] == "diagram")


class InspectMixin:
    """`inspect()`, and the display of a fitted estimator in a notebook. An estimator that is not fitted has scikit-learn's diagram."""

    def inspect(self) -> Inspection:
        """The facts about a fitted model that ``tare inspect`` prints: method, rows, guarantee, bands, columns, kernel, bandwidths.

        `print(model.inspect())` shows text; a notebook shows HTML. `describe()` has the same as a dictionary.

        Examples
        --------
        >>> import numpy as np, tare
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(300, 1)); y = rng.normal(size=300) * X[:, 0]
        >>> model = tare.Calibrator(guarantee="split").calibrate(X, y, y_pred=np.zeros(300))
        >>> dict(model.inspect().facts)["guarantee"]
        'split, 60 rows held out'
        """
        return Inspection(self._title(), cast(Any, self).describe())

    def _title(self) -> str:
        """Calibrator(Ridge): the class, and that of the wrapped model."""
        wrapped = getattr(self, "estimator_", None)
        inner = "" if wrapped is None else getattr(wrapped, "__name__", type(wrapped).__name__)
        return type(self).__name__ + (f"({inner})" if inner else "")

    @property
    def _repr_html_(self) -> Any:
        if not hasattr(self, "_model"):
            return cast(Any, super())._repr_html_  # scikit-learn's diagram; no such attribute without it
        if not _shows_html():
            raise AttributeError("scikit-learn is set to show estimators as text.")
        return self.inspect()._repr_html_

    def _repr_mimebundle_(self, **settings: Any) -> dict[str, str]:
        if not hasattr(self, "_model"):
            inner = getattr(super(), "_repr_mimebundle_", None)
            return cast("dict[str, str]", inner(**settings)) if inner else {"text/plain": repr(self)}
        bundle = {"text/plain": repr(self)}
        if _shows_html():
            bundle["text/html"] = self.inspect()._repr_html_()
        return bundle
