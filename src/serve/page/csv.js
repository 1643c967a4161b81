// SPDX-License-Identifier: BSD-3-Clause
// Rows in, rows with quantiles out.
import { short } from "/figures.js";

const SHOWN = 8;

/** The first lines of CSV text as cells. Quotes are understood; a line break in quotes ends the look. */
function firstRows(text, count) {
  const rows = [];
  for (const line of text.split(/\r?\n/, count)) {
    if (line === "") break;
    const cells = [];
    for (const match of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)) {
      cells.push(match[1] !== undefined ? match[1].replaceAll('""', '"') : match[2]);
    }
    rows.push(cells);
  }
  return rows;
}

function showTable(table, text, added) {
  const [header, ...rows] = firstRows(text, SHOWN + 1);
  const line = (tag, cells) => {
    const row = document.createElement("tr");
    cells.forEach((cell, j) => {
      const node = document.createElement(tag);
      if (tag === "th") node.scope = "col";
      node.textContent = cell;
      if (j >= header.length - added) {
        node.className = "new";
        if (tag === "td") node.textContent = short(Number(cell));
        node.title = cell;  // in full
      }
      row.append(node);
    });
    return row;
  };
  const head = document.createElement("thead"), body = document.createElement("tbody");
  head.append(line("th", header));
  body.append(...rows.map((cells) => line("td", cells)));
  table.replaceChildren(head, body);
}

/** ask(path, options) is fetch with the token; observed() is called when observations were counted. */
export function setUpCsv(ask, observed) {
  const at = (id) => document.getElementById(id);
  let rows = "";  // of a file; what is pasted stands in the text field

  const say = (state, problem = "") => {
    at("csv-state").textContent = state;
    at("csv-problem").textContent = problem;
  };

  const send = async (path, done) => {
    const body = rows || at("text").value;
    if (body.trim() === "") {
      say("", "There are no rows yet: choose a file, drop one, or paste rows with a header.");
      return;
    }
    say("Working …");
    try {
      const answer = await ask(path, { method: "POST", headers: { "Content-Type": "text/csv" }, body });
      if (!answer.ok) {
        say("", (await answer.json()).detail);
        return;
      }
      await done(answer);
    } catch (error) {
      say("", `The service does not answer: ${error.message}`);
    }
  };

  const predict = () => {
    at("csv-result").hidden = true;
    const levels = at("levels").value;
    return send(`/v1/predict?keep=all&levels=${encodeURIComponent(levels)}`, async (answer) => {
      const text = await answer.text();
      const count = text.trimEnd().split("\n").length - 1;
      showTable(at("csv-table"), text, levels.split(",").length);
      URL.revokeObjectURL(at("download").href);
      at("download").href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
      at("csv-result").hidden = false;
      say(count > SHOWN ? `${count} rows; the first ${SHOWN} are shown.` : `${count} rows.`);
    });
  };

  const observe = () => send("/v1/observe", async (answer) => {
    const outcome = await answer.json();
    say(outcome.learned === undefined ? `${outcome.counted} observations were counted.` : `${outcome.learned} rows were learned.`);
    observed();
  });

  const take = async (file) => {
    if (!file) return;
    rows = await file.text();
    at("text").value = rows.length > 20000 ? `${rows.slice(0, 20000)}\n… (${file.name} goes on)` : rows;
    await predict();
  };

  at("file").addEventListener("change", () => take(at("file").files[0]));
  at("text").addEventListener("input", () => { rows = ""; });
  at("predict").addEventListener("click", predict);
  at("observe").addEventListener("click", observe);
  const drop = at("drop");
  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    take(event.dataTransfer.files[0]);
  });
}
