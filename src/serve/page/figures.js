// SPDX-License-Identifier: BSD-3-Clause
// Pictures of what the service answers. Each takes the element to draw in and plain numbers, and fills its width.

const SVG = "http://www.w3.org/2000/svg";

/** A number for people: four digits that matter. */
export function short(value) {
  if (value === null || !Number.isFinite(value)) return "∞";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) return value.toExponential(2);
  return new Intl.NumberFormat("en", { maximumSignificantDigits: size >= 1000 ? 6 : 4, useGrouping: "min2" }).format(value).replace("-", "−");
}

export const percent = (share) => `${short(Math.round(share * 1000) / 10)} %`;

function element(name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

/** An empty picture as wide as its place, that a screen reader meets as one image with this name. */
function canvas(place, height, name) {
  const width = Math.max(240, Math.round(place.clientWidth));
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name });
  place.replaceChildren(svg);
  return { svg, width, height, add: (...node) => svg.append(element(...node)) };
}

function ticks(low, high, count) {
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) found.push(i * step + 0);  // no -0
  return found;
}

/** From numbers to places, with a little room at both ends. */
function scale(low, high, from, to, room = 0.05) {
  const middle = (low + high) / 2;
  let half = (high - low) / 2;
  if (!(half > 0)) half = Math.max(1e-9, Math.abs(middle) * 0.05 || 1);
  const least = middle - half * (1 + room), most = middle + half * (1 + room);
  const place = (value) => from + ((Math.min(most, Math.max(least, value)) - least) / (most - least)) * (to - from);
  return { place, least, most };
}

function horizontalAxis(c, x, y, name) {
  c.add("line", { class: "axis", x1: x.place(x.least), x2: x.place(x.most), y1: y, y2: y });
  for (const tick of ticks(x.least, x.most, c.width / 90)) {
    c.add("line", { class: "axis", x1: x.place(tick), x2: x.place(tick), y1: y, y2: y + 4 });
    const half = 4 * short(tick).length;
    const middle = Math.min(c.width - half, Math.max(half, x.place(tick)));
    c.add("text", { class: "tick", x: middle, y: y + 17, "text-anchor": "middle" }, short(tick));
  }
  c.add("text", { class: "name", x: x.place(x.most), y: y + 33, "text-anchor": "end" }, name);
}

function verticalAxis(c, y, left, name, text = short) {
  for (const tick of ticks(y.least, y.most, 4)) {
    c.add("line", { class: "axis", x1: left, x2: c.width - 6, y1: y.place(tick), y2: y.place(tick) });
    c.add("text", { class: "tick", x: left - 6, y: y.place(tick) + 4, "text-anchor": "end" }, text(tick));
  }
  c.add("text", { class: "name", x: 0, y: 12 }, name);
}

/** Room on the left for the longest number beside the axis. */
const margin = (low, high, text = short) =>
  14 + 7.2 * Math.max(...ticks(low, high, 4).map((tick) => text(tick).length), 3);

const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
const area = (upper, lower) => `${path(upper)}${path([...lower].reverse()).replace("M", "L")}Z`;

/** A smooth density through quantiles that are evenly spaced in their level. */
function density(quantiles, x) {
  const n = quantiles.length;
  const mean = quantiles.reduce((a, b) => a + b, 0) / n;
  const sd = Math.sqrt(quantiles.reduce((a, b) => a + (b - mean) ** 2, 0) / n);
  const quartiles = (quantiles[Math.floor(0.75 * n)] - quantiles[Math.floor(0.25 * n)]) / 1.34;
  const width = 0.9 * (quartiles > 0 ? Math.min(sd, quartiles) : sd) * n ** -0.2 || (x.most - x.least) / 200;
  const points = [];
  for (let i = 0; i <= 160; ++i) {
    const at = x.least + (i / 160) * (x.most - x.least);
    points.push([at, quantiles.reduce((sum, q) => sum + Math.exp(-0.5 * ((at - q) / width) ** 2), 0)]);
  }
  return points;
}

/** quantiles: of levels 0.01, ..., 0.99. */
export function drawDensity(place, quantiles, target) {
  const finite = quantiles.filter((q) => q !== null);
  const c = canvas(place, place.clientWidth > 500 ? 320 : 230, `Predicted distribution of ${target}: median ${short(quantiles[49])}, ` +
    `half of it between ${short(quantiles[24])} and ${short(quantiles[74])}`);
  const x = scale(finite[0], finite.at(-1), 8, c.width - 8, 0.25);
  const base = c.height - 42;
  const curve = density(finite, x);
  const top = Math.max(...curve.map(([, d]) => d));
  const points = curve.map(([v, d]) => [x.place(v), base - (d / top) * (base - 22)]);
  const between = (low, high) => points.filter((p, i) => curve[i][0] >= low && curve[i][0] <= high);
  const fill = (part, name) => part.length > 1 &&
    c.add("path", { class: name, d: `${path(part)}L${part.at(-1)[0].toFixed(1)} ${base}L${part[0][0].toFixed(1)} ${base}Z` });
  fill(points, "under");
  fill(between(quantiles[9] ?? -Infinity, quantiles[89] ?? Infinity), "b80");
  fill(between(quantiles[24] ?? -Infinity, quantiles[74] ?? Infinity), "b50");
  c.add("path", { class: "outline", d: path(points) });
  const median = x.place(quantiles[49]);
  c.add("line", { class: "curve", x1: median, x2: median, y1: base, y2: 18 });
  const right = median > c.width - 90;
  c.add("text", { class: "name", x: median + (right ? -6 : 6), y: 14, "text-anchor": right ? "end" : "start" }, `median ${short(quantiles[49])}`);
  horizontalAxis(c, x, base, target);
}

/** rows: {share, low, high, parts}, narrowest first; an end may be null, without bound. parts: [low, high] of the shortest set. */
export function drawIntervals(place, rows, median, target) {
  const ends = rows.flatMap((row) => [row.low, row.high, ...row.parts.flat()]).filter((end) => end !== null);
  const c = canvas(place, 40 + 36 * rows.length + 34, `Central intervals of ${target}: ` +
    rows.map((row) => `${percent(row.share)} from ${short(row.low)} to ${short(row.high)}, shortest set ` +
      row.parts.map(([low, high]) => `${short(low)} to ${short(high)}`).join(" and ")).join("; "));
  const x = scale(Math.min(...ends, median), Math.max(...ends, median), 48, c.width - 8);
  rows.forEach((row, i) => {
    const y = 12 + 36 * i;
    const left = (low) => (low === null ? 48 : x.place(low)), right = (high) => (high === null ? c.width - 8 : x.place(high));
    const from = left(row.low), to = right(row.high);
    c.add("text", { class: "name", x: 0, y: y + 14 }, percent(row.share));
    c.add("rect", { class: row.share > 0.85 ? "b95" : row.share > 0.6 ? "b80" : "b50", x: from, y, width: Math.max(2, to - from), height: 20, rx: 4 });
    for (const [low, high] of row.parts) {
      c.add("rect", { class: "set", x: left(low), y: y + 23, width: Math.max(2, right(high) - left(low)), height: 5, rx: 2 });
    }
  });
  c.add("line", { class: "curve", x1: x.place(median), x2: x.place(median), y1: 6, y2: 12 + 36 * rows.length });
  horizontalAxis(c, x, 18 + 36 * rows.length, target);
}

/** points: {x, q} with q of the levels 0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975; now: the present value. */
export function drawFan(place, points, now, names) {
  const all = points.flatMap((p) => p.q).filter((q) => q !== null);
  const c = canvas(place, 300, `${names.target} along ${names.feature}: median ${short(points[0].q[3])} at ` +
    `${names.categories ? points[0].x : short(points[0].x)}, ${short(points.at(-1).q[3])} at ${names.categories ? points.at(-1).x : short(points.at(-1).x)}`);
  const least = Math.min(...all), most = Math.max(...all);
  const left = margin(least, most);
  const y = scale(least, most, c.height - 44, 24);
  verticalAxis(c, y, left, names.target);
  const bound = (q, side) => (q === null ? side : q);
  const bands = [[0, 6, "b95"], [1, 5, "b80"], [2, 4, "b50"]];
  if (names.categories) {
    drawCategories(c, points, now, names, { y, left, bands, bound });
    return;
  }
  const x = scale(points[0].x, points.at(-1).x, left, c.width - 12, 0);
  for (const [low, high, name] of bands) {
    c.add("path", { class: name, d: area(points.map((p) => [x.place(p.x), y.place(bound(p.q[high], y.most))]),
      points.map((p) => [x.place(p.x), y.place(bound(p.q[low], y.least))])) });
  }
  c.add("path", { class: "curve", d: path(points.map((p) => [x.place(p.x), y.place(p.q[3])])) });
  c.add("line", { class: "now", x1: x.place(now.x), x2: x.place(now.x), y1: 24, y2: c.height - 44 });
  c.add("circle", { class: "dot", cx: x.place(now.x), cy: y.place(now.q), r: 5 });
  horizontalAxis(c, x, c.height - 42, names.feature);
}

/** A bar for each category in place of a curve. */
function drawCategories(c, points, now, names, { y, left, bands, bound }) {
  const step = (c.width - 12 - left) / points.length;
  const wide = Math.min(46, step * 0.7);
  const every = Math.ceil(points.length / Math.max(1, Math.floor((c.width - left) / 60)));
  points.forEach((point, i) => {
    const middle = left + step * (i + 0.5);
    for (const [low, high, name] of bands) {
      const top = y.place(bound(point.q[high], y.most));
      c.add("rect", { class: name, x: middle - wide / 2, y: top, width: wide, height: Math.max(1, y.place(bound(point.q[low], y.least)) - top) });
    }
    const median = y.place(point.q[3]);
    c.add("line", { class: "curve", x1: middle - wide / 2, x2: middle + wide / 2, y1: median, y2: median });
    if (point.x === now.x) c.add("circle", { class: "dot", cx: middle, cy: median, r: 5 });
    const label = point.x.length > 9 ? `${point.x.slice(0, 8)}…` : point.x;
    if (i % every === 0) c.add("text", { class: "tick", x: middle, y: c.height - 25, "text-anchor": "middle" }, label);
  });
  c.add("text", { class: "name", x: c.width - 12, y: c.height - 6, "text-anchor": "end" }, names.feature);
}

/** The answer of /v1/coverage. */
export function drawCoverage(place, coverage) {
  const history = coverage.history.filter((point) => point.at >= Math.min(20, coverage.total));
  const said = coverage.coverage === null ? "no observation yet" : `now ${percent(coverage.coverage)}, allowed ${percent(coverage.band.low)} to ${percent(coverage.band.high)}`;
  const c = canvas(place, 230, `Coverage of the ${percent(coverage.level)} interval over time: ${said}`);
  const shown = history.flatMap((p) => [p.coverage, p.low, p.high]);
  const least = Math.max(0, Math.min(coverage.level - 0.1, ...shown)), most = Math.min(1, Math.max(coverage.level + 0.1, ...shown));
  const left = margin(least, most, percent);
  const y = scale(least, most, c.height - 44, 14, 0);
  const x = scale(history[0]?.at ?? 0, history.at(-1)?.at ?? coverage.window, left, c.width - 12, 0);
  const points = (pick) => history.map((p) => [x.place(p.at), y.place(pick(p))]);
  if (history.length > 1) {
    c.add("path", { class: "allowed", d: area(points((p) => p.high), points((p) => p.low)) });
    c.add("path", { class: "edge", d: path(points((p) => p.high)) });
    c.add("path", { class: "edge", d: path(points((p) => p.low)) });
  }
  verticalAxis(c, y, left, "", percent);
  c.add("line", { class: "nominal", x1: left, x2: c.width - 12, y1: y.place(coverage.level), y2: y.place(coverage.level) });
  if (history.length > 1) c.add("path", { class: coverage.alarm === "none" ? "curve" : "outside", d: path(points((p) => p.coverage)) });
  if (history.length > 0) c.add("circle", { class: "dot", cx: x.place(history.at(-1).at), cy: y.place(history.at(-1).coverage), r: 4 });
  if (history.length === 0) c.add("text", { class: "tick", x: (left + c.width) / 2, y: c.height / 2 - 26, "text-anchor": "middle" }, "no observation yet");
  horizontalAxis(c, x, c.height - 42, "observations");
}
