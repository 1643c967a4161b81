// SPDX-License-Identifier: BSD-3-Clause
// Tables and code that scroll can be reached and named with the keyboard alone.
(() => {
  "use strict";
  const reach = (box, name) => {
    if (box.scrollWidth > box.clientWidth + 1) {
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", name);
    } else {
      for (const attribute of ["tabindex", "role", "aria-label"]) box.removeAttribute(attribute);
    }
  };
  const heading = (element) => {
    for (let at = element; at && !at.matches("article"); at = at.parentElement)
      for (let before = at.previousElementSibling; before; before = before.previousElementSibling)
        if (/^H[1-6]$/.test(before.tagName)) return (before.firstChild ? before.firstChild.textContent : before.textContent).trim();
    return document.title;
  };
  const look = () => {
    let number = 0;
    for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) reach(box, `Table ${++number}: ${heading(box)}`);
    number = 0;
    for (const box of document.querySelectorAll(".md-typeset pre > code")) reach(box, `Code ${++number}: ${heading(box)}`);
  };
  // The theme wraps tables after the page has loaded, and has a say about code at every change of size, so this comes after it.
  let asked = 0;
  const soon = () => {
    clearTimeout(asked);
    asked = setTimeout(look, 60);
  };
  addEventListener("load", soon);
  addEventListener("resize", soon);
  new ResizeObserver(soon).observe(document.body);
})();
