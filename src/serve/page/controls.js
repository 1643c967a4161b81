// SPDX-License-Identifier: BSD-3-Clause
// A control for each column that the model needs: a slider with a number beside it, or a list.
import { short } from "/figures.js";

/** What the model's card says about its columns, as controls need it. */
export function columnsOf(card) {
  const columns = card.inputs.map((input) => ({ ...input }));
  for (const given of card.predictions) columns.push({ ...given, kind: "number", prediction: true });
  if (card.group && !columns.some((column) => column.name === card.group.name)) {
    columns.push({ name: card.group.name, kind: "category", categories: card.group.values, typical: card.group.values[0], group: true });
  }
  for (const column of columns) {
    if (column.kind === "category") {
      column.typical ??= column.categories[0] ?? "";
      continue;
    }
    if (!(column.low < column.high)) {  // a constant, or a model file that does not say
      const reach = Math.max(1, Math.abs(column.typical));
      column.low = column.typical - reach;
      column.high = column.typical + reach;
    }
  }
  return columns;
}

function make(name, properties, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

/** Fills `place`; calls changed(column, value) when a person moves something. Returns a function that sets a value. */
export function buildControls(place, columns, changed) {
  const setters = new Map();
  place.replaceChildren(...columns.map((column, i) => {
    const id = `feature-${i}`;
    const label = make("label", { htmlFor: id }, column.name);
    const kind = column.prediction ? " prediction" : column.group ? " group" : "";
    if (kind) label.append(make("span", { className: "kind" }, kind));
    if (column.kind === "category") {
      const select = make("select", { id }, ...column.categories.map((text) => make("option", { value: text }, text || "(empty)")));
      select.addEventListener("change", () => changed(column, select.value));
      setters.set(column.name, (value) => { select.value = value; });
      return make("div", { className: "feature" }, make("div", { className: "row" }, label, select));
    }
    const number = make("input", { id, type: "number", step: "any", required: true });
    const slider = make("input", { type: "range", min: column.low, max: column.high, step: "any" });
    slider.setAttribute("aria-label", `${column.name}, slider`);
    const set = (value) => {
      number.value = Number(value.toPrecision(6));
      slider.value = value;
      slider.setAttribute("aria-valuetext", short(value));
    };
    slider.addEventListener("input", () => { set(slider.valueAsNumber); changed(column, slider.valueAsNumber); });
    slider.addEventListener("keydown", (event) => {  // an arrow moves by a hundredth of the range, a page by a tenth
      const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
      if (steps === undefined) return;
      event.preventDefault();
      const value = Math.min(column.high, Math.max(column.low, slider.valueAsNumber + (steps * (column.high - column.low)) / 100));
      set(value);
      changed(column, value);
    });
    number.addEventListener("input", () => {
      if (!Number.isFinite(number.valueAsNumber)) return;
      slider.value = number.valueAsNumber;
      slider.setAttribute("aria-valuetext", short(number.valueAsNumber));
      changed(column, number.valueAsNumber);
    });
    setters.set(column.name, set);
    const ends = make("div", { className: "ends", ariaHidden: "true" }, make("span", {}, short(column.low)), make("span", {}, short(column.high)));
    return make("div", { className: "feature" }, make("div", { className: "row" }, label, number), slider, ends);
  }));
  return (name, value) => setters.get(name)(value);
}
