# SPDX-License-Identifier: BSD-3-Clause
"""What every page of tare must be in a browser, whatever is on it: a list of faults, empty where it is sound."""

# Each script gives a list of texts, one for each fault.
OVERFLOW = """(() => {
  const faults = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width)  // innerWidth grows with the page on a phone
    faults.push(`the page is ${document.documentElement.scrollWidth} wide on a screen of ${width}`);
  for (const element of document.querySelectorAll('body *')) {
    if (element.closest('.wide') && !element.matches('.wide')) continue;  // scrolls by itself
    if (element.matches('.skip, title, script, style')) continue;
    const box = element.getBoundingClientRect();
    if (box.width > 0 && (box.right > width + 1 || box.left < -1))
      faults.push(`<${element.tagName}> '${element.textContent.trim().slice(0, 40)}' from ${box.left} to ${box.right}`);
  }
  return faults.slice(0, 5);
})()"""

# Every picture is drawn, and nothing in it is outside of it.
PICTURES = """(() => {
  const faults = [];
  for (const svg of document.querySelectorAll('svg')) {
    const name = svg.getAttribute('aria-label') || svg.querySelector('title')?.textContent || '';
    const own = svg.getBoundingClientRect(), drawn = svg.getBBox();
    if (!name.trim()) faults.push('a picture without a name');
    if (svg.getAttribute('role') !== 'img') faults.push(`'${name}' has no role`);
    if (own.width < 100 || own.height < 60 || drawn.width <= 0 || drawn.height <= 0) faults.push(`'${name}' is not drawn`);
    if (!svg.querySelector('circle, path.line, rect, .whiskers path')) faults.push(`'${name}' has no marks`);
    for (const text of svg.querySelectorAll('text')) {
      const box = text.getBoundingClientRect();
      if (box.left < own.left - 1 || box.right > own.right + 1 || box.top < own.top - 1 || box.bottom > own.bottom + 1)
        faults.push(`'${text.textContent}' leaves the picture '${name}'`);
    }
    if (/NaN|Infinity|undefined|\\bnan\\b|\\binf\\b/.test(svg.outerHTML)) faults.push(`'${name}' holds what is no number`);
  }
  return faults.slice(0, 8);
})()"""

# The contrast of every text with what is behind it, by the formula of WCAG 2.
CONTRAST = """(() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const part = (v) => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; };
    return .2126 * part(r) + .7152 * part(g) + .0722 * part(b);
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > .99) return colour;
    }
    return matchMedia('print').matches || !matchMedia('(prefers-color-scheme: dark)').matches ? [255, 255, 255] : [18, 18, 18];
  };
  const faults = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const box = element.getBoundingClientRect();
    if (!own || element.matches('script, style, title, .skip, #tip') || box.width === 0) continue;
    const style = getComputedStyle(element);
    const ink = parse(element instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(ink), light(ground(element))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) faults.push(`${ratio.toFixed(2)}: '${element.textContent.trim().slice(0, 40)}'`);
  }
  return faults.slice(0, 5);
})()"""

# What those need who cannot see the page.
NAMES = """(() => {
  const faults = [];
  if (!document.documentElement.lang) faults.push('the page has no language');
  if (!document.title.trim()) faults.push('the page has no title');
  if (document.querySelectorAll('h1').length !== 1) faults.push('there must be one main heading');
  if (!document.querySelector('main')) faults.push('there is no main part');
  let level = 1;
  for (const heading of document.querySelectorAll('h1, h2, h3, h4')) {
    const own = Number(heading.tagName[1]);
    if (own > level + 1) faults.push(`'${heading.textContent}' skips a level of headings`);
    level = own;
  }
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  if (new Set(ids).size !== ids.length) faults.push('two elements share an id');
  for (const link of document.querySelectorAll('a[href^="#"]'))
    if (!document.getElementById(link.getAttribute('href').slice(1))) faults.push(`${link.href} leads nowhere`);
  for (const table of document.querySelectorAll('table')) {
    if (!table.querySelector('th')) faults.push('a table without headings');
    const around = table.closest('[role=region]');
    if (!around || !around.getAttribute('aria-label')) faults.push('a table without a name');
    if (around && around.tabIndex !== 0) faults.push('a table that scrolls but cannot be reached');
  }
  return faults.slice(0, 8);
})()"""

ALL = {"overflow": OVERFLOW, "pictures": PICTURES, "contrast": CONTRAST, "names": NAMES}


def faults(page):
    """All faults of an open page, each with what it is about."""
    found = [f"{kind}: {text}" for kind, script in ALL.items() for text in page.evaluate(script)]
    return found + [f"console: {text}" for text in page.errors]
