// SPDX-License-Identifier: BSD-3-Clause
// The page: the model's card, a row that a person moves about, and what the service answers to it.
import { buildControls, columnsOf } from "/controls.js";
import { setUpCsv } from "/csv.js";
import { showStream } from "/stream.js";
import { drawCoverage, drawDensity, drawFan, drawIntervals, percent, short } from "/figures.js";

const LEVELS = Array.from({ length: 99 }, (_, i) => (i + 1) / 100);
const SHARES = [0.5, 0.8, 0.9, 0.95];
const FAN = [0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975];
const FAN_POINTS = 41;
const POLL_MS = 2000;

const at = (id) => document.getElementById(id);
let token = sessionStorage.getItem("token") ?? "";
let card = null;
let columns = [];
let row = {};
let drawn = null;  // the answers that are on show, to be drawn again when the window changes
let lastCoverage = null;

function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  return fetch(path, { ...options, headers });
}

/** Answers for rows, one for each. A model on a series is asked about a series that stands still. */
async function predict(rows, question) {
  const repeated = rows.flatMap((one) => Array(card.window).fill(one));
  const answer = await ask("/v1/predict", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ rows: repeated, ...question }),
  });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail);
  return Object.assign(rows.map((_, i) => body.rows[i * card.window]), { warnings: body.warnings });
}

function fanRows(column) {
  const values = column.kind === "category" ? column.categories.slice(0, 60)
    : Array.from({ length: FAN_POINTS }, (_, i) => column.low + (i / (FAN_POINTS - 1)) * (column.high - column.low));
  return values.map((value) => ({ ...row, [column.name]: value }));
}

async function askAll() {
  const column = columns.find((one) => one.name === at("along").value);
  const rows = fanRows(column);
  const [points, fan, sets] = await Promise.all([
    predict([row], { levels: LEVELS, interval: SHARES, diagnostics: true }), predict(rows, { levels: FAN }),
    predict([row], { interval: SHARES, set: "shortest" }),
  ]);
  const point = points[0];
  return {
    warnings: [...points.warnings, ...sets.warnings.filter(({ code }) => code === "set_without_guarantee")],
    quantiles: LEVELS.map((level) => point[`q${level}`]),
    intervals: SHARES.map((share) => ({ share, low: point[`lower_${share}`], high: point[`upper_${share}`], parts: sets[0][`set_${share}`] })),
    point, column, value: row[column.name],
    fan: fan.map((answer, i) => ({ x: rows[i][column.name], q: FAN.map((level) => answer[`q${level}`]) })),
  };
}

function drawAnswer({ quantiles, intervals, column, value, fan }) {
  const median = quantiles[49];
  drawDensity(at("density"), quantiles, card.target);
  drawIntervals(at("intervals"), intervals, median, card.target);
  drawFan(at("fan"), fan, { x: value, q: median }, { target: card.target, feature: column.name, categories: column.kind === "category" });
}

function writeAnswer({ quantiles, intervals, point, warnings }) {
  const strong = (value) => Object.assign(document.createElement("strong"), { textContent: short(value) });
  const ninety = intervals.find((one) => one.share === 0.9);
  at("headline").replaceChildren(`${card.target}: half of the time above `, strong(quantiles[49]), ", nine times in ten between ",
    strong(ninety.low), " and ", strong(ninety.high));
  at("bar").textContent = `${card.target} ${short(quantiles[49])} · 90 %: ${short(ninety.low)} to ${short(ninety.high)}`;
  const line = (name, low, high) => {
    const cells = [name, short(low), short(high), short(low === null || high === null ? null : high - low)];
    const made = document.createElement("tr");
    made.append(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
    return made;
  };
  at("interval-table").tBodies[0].replaceChildren(...intervals.flatMap(({ share, low, high, parts }) =>
    [line(percent(share), low, high), ...parts.map(([from, to]) => line("shortest", from, to))]));
  const words = [];
  if (point.effective_n !== undefined) words.push(`About ${short(Math.round(point.effective_n))} independent draws from this row's own distribution would pin its quantiles as well as this answer does.`);
  if (point.outside) words.push("This row lies outside the calibration rows: take it with care.");
  else if (point.fallback) words.push("No calibration row was in reach, so the nearest ones answered.");
  const said = new Set(["outside", "fallback", "few_effective_rows", "left_out_rows"]);  // in words of their own, or of the repeated row
  for (const { code, text } of warnings) if (!said.has(code)) words.push(text.endsWith(".") ? text : `${text}.`);
  at("reliability").textContent = words.join(" ");
}

// One question at a time, and the latest state last: a slider moves faster than answers come.
let asking = false, again = false;
async function refresh() {
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  do {
    again = false;
    try {
      drawn = await askAll();
      at("answer-problem").textContent = "";
      drawAnswer(drawn);
      writeAnswer(drawn);
      online(true);
    } catch (error) {
      at("answer-problem").textContent = error.message;
      if (error instanceof TypeError) online(false);
    }
  } while (again);
  asking = false;
}

function online(yes) {
  at("state").textContent = yes ? "live" : "no answer";
  at("state").classList.toggle("bad", !yes);
}

function showCoverage(coverage) {
  const first = lastCoverage === null;
  if (!first && JSON.stringify(coverage) === JSON.stringify(lastCoverage)) return;
  lastCoverage = coverage;
  drawCoverage(at("coverage-plot"), coverage);
  const range = `${percent(coverage.band.low)} to ${percent(coverage.band.high)}`;
  at("coverage-text").textContent = coverage.coverage === null
    ? `The ${percent(coverage.level)} interval is watched. No target has been observed yet.`
    : `The ${percent(coverage.level)} interval held ${percent(coverage.coverage)} of the last ${short(coverage.observations)} targets; ${range} is what chance allows.`;
  at("alarm").hidden = coverage.alarm === "none";
  at("alarm").textContent = coverage.alarm === "none" ? ""
    : `Coverage is ${percent(coverage.coverage)} and should be ${range}: the intervals are too ${coverage.alarm === "below" ? "narrow" : "wide"} for the targets that arrive. Calibrate the model anew.`;
}

async function look() {
  try {
    const answers = await Promise.all([ask("/v1/coverage"), ask("/v1/model")]);
    if (answers.every((answer) => answer.ok)) {
      showCoverage(await answers[0].json());
      const fresh = await answers[1].json();
      const learned = fresh.online?.rows !== card.online?.rows;
      if (fresh.version !== card.version) {
        takeCard(fresh);
      } else if (learned) {  // the answers are others now
        card = fresh;
        showCard();
        refresh();
      }
    }
    online(true);
  } catch {
    online(false);
  }
}

async function poll() {
  if (!document.hidden) await look();
  setTimeout(poll, POLL_MS);
}

function showCard() {
  const options = Object.entries(card.options).map(([name, value]) => `${name}=${value}`).join(" ");
  const lines = [
    ["Target", card.target], ["Method", `${card.method}: ${card.summary}`], ["Relied on", card.guarantee], ["Options", options || "the method's defaults"],
    ["Fitted on", `${short(card.rows)} rows, seed ${card.seed}`], ["Columns", columns.map((column) => column.name).join(", ")],
    ["Missing values", card.missing === "impute" ? "imputed" : "refused"], ["Reference", card.citation], ["Version", `${card.version}, tare ${card.tare_version}`],
  ];
  if (card.window > 1) lines.splice(3, 0, ["Window", `${card.window} rows of a series; this page asks about a series that stands still`]);
  if (card.online) lines.splice(4, 1, ["Followed", `${short(card.rows)} rows of a stream, seed ${card.seed}`]);
  at("subtitle").textContent = `Predictions of ${card.target} by ${card.method}, ${card.online ? `after ${short(card.rows)} rows of a stream` : `fitted on ${short(card.rows)} rows`}`;
  showStream(card.online);
  at("card").replaceChildren(...lines.flatMap(([name, text]) => [
    Object.assign(document.createElement("dt"), { textContent: name }), Object.assign(document.createElement("dd"), { textContent: text }),
  ]));
}

/** The model that serves, at the start or in the place of another. */
function takeCard(fresh) {
  const before = card;
  card = fresh;
  columns = columnsOf(card);
  showCard();
  document.title = `${card.target} · tare`;
  if (before && JSON.stringify(columnsOf(before)) === JSON.stringify(columns)) {
    refresh();
    return;
  }
  row = Object.fromEntries(columns.map((column) => [column.name, column.typical]));
  const set = buildControls(at("features"), columns, (column, value) => {
    row[column.name] = value;
    refresh();
  });
  const reset = () => {
    for (const column of columns) {
      row[column.name] = column.typical;
      set(column.name, column.typical);
    }
    refresh();
  };
  at("reset").onclick = reset;
  at("along").replaceChildren(...columns.map((column) => Object.assign(document.createElement("option"), { value: column.name, textContent: column.name })));
  at("along").value = (columns.find((column) => column.kind === "number") ?? columns[0])?.name ?? "";
  at("along").onchange = refresh;
  reset();
}

async function start() {
  const answer = await ask("/v1/model");
  at("login").hidden = answer.status !== 401;
  if (answer.status === 401) {
    at("login-problem").textContent = token ? "This token is not the right one." : "";
    at("state").textContent = "token wanted";
    at("subtitle").textContent = "";
    at("token").focus();
    return;
  }
  at("main").hidden = false;
  takeCard(await answer.json());
  setUpCsv(ask, look);
  poll();
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    if (drawn) drawAnswer(drawn);
    if (lastCoverage) drawCoverage(at("coverage-plot"), lastCoverage);
  });
}

at("login").addEventListener("submit", (event) => {
  event.preventDefault();
  token = at("token").value.trim();
  sessionStorage.setItem("token", token);
  start();
});
start().catch(() => online(false));
