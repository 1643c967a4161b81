// SPDX-License-Identifier: BSD-3-Clause
// What a model that goes on learning has come to: rows, coverage so far, evidence of drift.
import { percent, short } from "/figures.js";

const at = (id) => document.getElementById(id);

function causeText({ column, from, to }) {
  return from === to ? `${column} is ${short(from)}` : `${column} is between ${short(from)} and ${short(to)}`;
}

function alarmText(alarm) {
  const words = [];
  if (Math.abs(alarm.scale - 1) >= 0.05) words.push(`their spread is ${short(alarm.scale)} times what it was`);
  if (Math.abs(alarm.shift) >= 0.05) words.push(`they moved by ${short(alarm.shift)} standard deviations`);
  const how = words.length ? `: ${words.join(", and ")}` : "";
  const where = alarm.causes.length ? ` Most of it is where ${alarm.causes.map(causeText).join(", or where ")}.` : "";
  return `Drift: at row ${short(alarm.row)} of the stream it was clear that the errors changed, from about row ${short(alarm.change)} on${how}.${where}`;
}

/** online: that member of the model's card; absent for a model that does not learn. */
export function showStream(online) {
  at("stream").hidden = !online;
  at("drift-alarm").hidden = !online?.drift.alarm;
  at("observe").textContent = online ? "Teach these rows" : "Count as observations";
  if (!online) return;
  const warm = online.rows < online.start ? `; answers count after ${short(online.start)} rows` : "";
  at("stream-text").textContent = `${short(online.rows)} rows learned, ${short(online.answered)} of them after the warm-up${warm}.`;
  at("stream-table").hidden = online.intervals.length === 0;
  at("stream-table").tBodies[0].replaceChildren(...online.intervals.map(({ confidence, coverage, bound }) => {
    const line = document.createElement("tr");
    const proven = bound < 1 ? `within ${percent(bound)} of ${percent(confidence)}` : "nothing yet";
    const cells = [percent(confidence), coverage === null ? "not yet known" : percent(coverage), proven];
    line.append(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
    return line;
  }));
  const { log_e, threshold, rate, alarm } = online.drift;
  const share = Math.max(0, Math.min(1, (log_e ?? 0) / threshold));
  at("evidence").value = alarm ? 1 : share;
  at("evidence-text").textContent = alarm ? `alarm at row ${short(alarm.row)}`
    : `log e is ${short(log_e ?? 0)}; an alarm is raised from ${short(threshold)} on (false with probability ${percent(rate)} at most)`;
  at("drift-alarm").textContent = alarm ? alarmText(alarm) : "";
}
