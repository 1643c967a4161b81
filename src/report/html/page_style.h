// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace tare {

// The house style of pages: light and dark by the reader's setting, on a phone and on paper. Every
// pair of text and ground has a contrast of at least 4.5, which the browser tests measure.
inline constexpr std::string_view kPageStyle = R"(
:root{color-scheme:light dark;--ground:#f4f6f8;--card:#fff;--text:#1f2732;--minor:#566171;--line:#dde2e8;
--accent:#1769aa;--good:#22693f;--bad:#a8430a;--mark:#eef3f8}
@media screen and (prefers-color-scheme:dark){:root{--ground:#0d1014;--card:#14181d;--text:#dde3ea;--minor:#9aa6b4;
--line:#2c343e;--accent:#5db0f2;--good:#6fcf97;--bad:#ff9a57;--mark:#1b222a}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
.sheet{max-width:74rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.75rem;line-height:1.2;margin:.4rem 0}
h2{font-size:1.3rem;margin:2.4rem 0 .7rem}
h3{font-size:1.02rem;margin:0 0 .5rem}
p{margin:.5rem 0}
a{color:var(--accent)}
a:focus-visible,summary:focus-visible,svg:focus-visible,.wide:focus-visible{outline:3px solid var(--accent);
outline-offset:2px;border-radius:4px}
code{font:.92em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--mark);padding:.08em .3em;
border-radius:4px;display:inline-block;max-width:100%}
.minor{color:var(--minor)}
.lead{max-width:48rem}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;padding:0;margin:.8rem 0}
.skip{position:absolute;left:-99rem}
.skip:focus{position:static}
.tiles{display:grid;gap:.8rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,10.5rem),1fr));margin:1rem 0;padding:0;
list-style:none}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.8rem 1rem;min-width:0}
.tile b{display:block;font-size:1.55rem;line-height:1.25;font-variant-numeric:tabular-nums}
.tile .name{color:var(--minor);font-size:.9rem}
.tile .note{font-size:.88rem}
.found{list-style:none;padding:0;margin:1rem 0;display:grid;gap:.6rem}
.found li{background:var(--card);border:1px solid var(--line);border-left:5px solid var(--good);border-radius:8px;
padding:.6rem .9rem}
.found li.look{border-left-color:var(--bad)}
.found b{color:var(--good)}
.found li.look b{color:var(--bad)}
.card+.cards,.cards+.card{margin-top:1rem}
.cards{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));align-items:start}
.card{margin:0;background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1rem;min-width:0}
.card.full{grid-column:1/-1}
@media (min-width:900px){.card.full{display:grid;grid-template-columns:minmax(0,30rem) minmax(0,1fr);column-gap:2rem}
.card.full>h3,.card.full>details{grid-column:1/-1}.card.full>figcaption{align-self:center}}
.stack{columns:2 27rem;column-gap:1rem}
.stack .card{break-inside:avoid;margin-bottom:1rem}
.card svg{display:block;max-width:100%;height:auto;margin:0 auto}
.card figcaption{font-size:.95rem}
.plots{display:grid;gap:.4rem}
details{margin-top:.5rem;font-size:.92rem}
summary{cursor:pointer;color:var(--accent);padding:.2rem 0}
.wide{overflow-x:auto}.wide+.wide{margin-top:1.2rem}
.wide svg{max-width:none}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem}
th,td{padding:.28rem .55rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap;vertical-align:top}
th{font-weight:600}tbody th{font-weight:500;white-space:normal;min-width:8rem}
th:first-child,td:first-child{text-align:left;padding-left:0}
.words td,.words th{text-align:left;white-space:normal;min-width:7rem}
#tip{position:fixed;z-index:9;max-width:min(20rem,90vw);pointer-events:none;background:var(--text);color:var(--card);
border-radius:6px;padding:.3rem .6rem;font-size:.86rem;white-space:pre-line;visibility:hidden}
.tare-chart .halo{paint-order:stroke;stroke:var(--card);stroke-width:4px;stroke-linejoin:round}
.tare-chart .at{stroke:var(--text);stroke-width:2;stroke-opacity:1}
@media (max-width:600px){.stack{columns:1}.sheet{padding:1rem .6rem 3rem}.card{padding:.7rem .5rem}.card h3,.card figcaption,.card details{
padding:0 .3rem}h1{font-size:1.4rem}}
@media print{body{background:#fff;font-size:11pt}.sheet{max-width:none;padding:0}nav,details,.skip,#tip{display:none}
.card,.tile,.found li{break-inside:avoid;border-color:#bbb}h2,h3{break-after:avoid}
.cards{grid-template-columns:repeat(auto-fit,minmax(min(100%,19rem),1fr))}.stack{columns:2 19rem}
.card.full{display:grid;grid-template-columns:3fr 2fr;column-gap:1rem}.card.full>h3{grid-column:1/-1}}
)";

// Pointing at a picture, or walking through it with the arrow keys, shows what its nearest mark
// says. Without the script the browser shows the same texts, being the marks' titles.
inline constexpr std::string_view kPageScript = R"(
(() => {
const tip = document.getElementById('tip');
let lit = null;
const hide = () => { if (lit) lit.classList.remove('at'); lit = null; tip.style.visibility = 'hidden'; };
const show = (mark) => {
  if (lit !== mark) { hide(); lit = mark; mark.classList.add('at'); tip.textContent = mark.dataset.tip; }
  const box = mark.getBoundingClientRect(), own = tip.getBoundingClientRect();
  const x = Math.min(Math.max(box.x + box.width / 2 - own.width / 2, 4), innerWidth - own.width - 4);
  const above = box.y - own.height - 8;
  tip.style.left = x + 'px';
  tip.style.top = (above > 4 ? above : Math.min(box.bottom + 8, innerHeight - own.height - 4)) + 'px';
  tip.style.visibility = 'visible';
};
for (const svg of document.querySelectorAll('svg.tare-chart')) {
  const marks = [...svg.querySelectorAll(':scope > g title')].map((title) => {
    const mark = title.parentNode;
    mark.dataset.tip = title.textContent;
    title.remove();
    return mark;
  });
  if (!marks.length) continue;
  const away = (mark, e) => {
    const box = mark.getBoundingClientRect();
    const dx = Math.max(box.left - e.clientX, 0, e.clientX - box.right);
    const dy = Math.max(box.top - e.clientY, 0, e.clientY - box.bottom);
    return Math.hypot(dx, dy) + .001 * Math.hypot(box.x + box.width / 2 - e.clientX, box.y + box.height / 2 - e.clientY);
  };
  const point = (e) => {
    let best = null, least = 28;
    for (const mark of marks) { const d = away(mark, e); if (d < least) { least = d; best = mark; } }
    best ? show(best) : hide();
  };
  svg.addEventListener('pointermove', point);
  svg.addEventListener('pointerdown', point);
  svg.addEventListener('pointerleave', hide);
  svg.addEventListener('blur', hide);
  svg.addEventListener('keydown', (e) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (e.key === 'Escape') hide();
    if (!step) return;
    e.preventDefault();
    const at = marks.indexOf(lit);
    show(marks[at < 0 ? (step > 0 ? 0 : marks.length - 1) : (at + step + marks.length) % marks.length]);
  });
}
addEventListener('scroll', () => { if (lit) show(lit); }, { passive: true });
})();
)";

}  // namespace tare
