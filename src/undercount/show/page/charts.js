// ---- charts: small SVG drawings whose nodes are kept and only moved ----
const $ = (id) => document.getElementById(id);
const frames = {};
function element(name, attributes, parent, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}
function niceTicks(low, high, most) {
  const rough = (high - low) / most, ten = 10 ** Math.floor(Math.log10(rough));
  const step = ten * [1, 2, 2.5, 5, 10].find((k) => k * ten >= rough * 0.999), out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) out.push(k * step);
  return out;
}
const plainTick = (v) => String(+v.toPrecision(6));
const percentTick = (v) => plainTick(100 * v) + " %";
// The frame of a chart; built anew only when its size or scale changes.
function frame(id, xLabel, yLabel, xs, ys, xText = plainTick, yText = plainTick) {
  const svg = $(id), old = frames[id], key = [xLabel, yLabel, xs, ys].join("|");
  if (old && old.key === key) { old.used.clear(); return old; }
  const width = clip((old && old.width) || svg.clientWidth || 480, 280, 620), height = Math.round(width * 0.68);
  const left = 52, right = width - 18, top = 10, bottom = height - 42;
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const x = (v) => left + (v - xs[0]) / (xs[1] - xs[0]) * (right - left);
  const y = (v) => bottom - (v - ys[0]) / (ys[1] - ys[0]) * (bottom - top);
  element("rect", { x: left, y: top - 3, width: right - left, height: bottom - top + 3 }, element("clipPath", { id: id + "-clip" }, element("defs", {}, svg)));
  for (const v of niceTicks(xs[0], xs[1], width < 400 ? 4 : 6)) {
    element("line", { x1: x(v), x2: x(v), y1: top, y2: bottom, class: "grid" }, svg);
    element("text", { x: Math.min(x(v), width - 22), y: bottom + 16, class: "middle" }, svg, xText(v)); // "100 %" stays inside
  }
  for (const v of niceTicks(ys[0], ys[1], 5)) {
    element("line", { x1: left, x2: right, y1: y(v), y2: y(v), class: "grid" }, svg);
    element("text", { x: left - 6, y: y(v) + 4, class: "end" }, svg, yText(v));
  }
  element("text", { x: (left + right) / 2, y: height - 8, class: "middle axis" }, svg, xLabel);
  element("text", { x: -(top + bottom) / 2, y: 13, transform: "rotate(-90)", class: "middle axis" }, svg, yLabel);
  const plot = element("g", { "clip-path": `url(#${id}-clip)` }, svg), marks = element("g", {}, svg);
  return (frames[id] = { svg, plot, marks, x, y, xs, ys, left, right, top, bottom, width, key, nodes: {}, used: new Set() });
}
function put(f, key, name, attributes, parent = f.plot, text) {
  f.used.add(key);
  const node = f.nodes[key];
  if (!node) { f.nodes[key] = element(name, attributes, parent, text); return; }
  for (const k in attributes) node.setAttribute(k, attributes[k]);
}
function tidy(f) {
  for (const key in f.nodes) if (!f.used.has(key)) { f.nodes[key].remove(); delete f.nodes[key]; }
}
const round = (v) => Math.round(v * 10) / 10;
// Steps smaller than half a pixel are left out; a value that does not exist leaves a gap.
function trace(f, xs, ys, from, to, start) {
  const step = to > from ? 1 : -1;
  let d = start, lastX = NaN, lastY = NaN, pen = start ? "L" : "M";
  for (let i = from; i !== to + step; i += step) {
    const u = f.x(xs[i]), v = f.y(ys[i]);
    if (u !== u || v !== v) { pen = "M"; lastX = NaN; continue; }
    if (i !== to && Math.abs(u - lastX) < 0.5 && Math.abs(v - lastY) < 0.5) continue;
    d += pen + round(u) + " " + round(v);
    lastX = u; lastY = v; pen = "L";
  }
  return d;
}
function line(f, key, xs, ys, name, from = 0, to = xs.length - 1) { put(f, key, "path", { d: trace(f, xs, ys, from, to, ""), class: name }); }
function band(f, key, xs, low, high, name) {
  const last = xs.length - 1;
  put(f, key, "path", { d: trace(f, xs, low, last, 0, trace(f, xs, high, 0, last, "")) + "Z", class: name });
}
function rule(f, key, x1, y1, x2, y2, name, parent) { put(f, key, "line", { x1: f.x(x1), y1: f.y(y1), x2: f.x(x2), y2: f.y(y2), class: name }, parent); }
// A model's dot bears its number, so that colour is not needed.
function marker(f, x, y, k, numbered) {
  const u = f.x(x), v = f.y(y);
  if (!(u >= f.left - 1 && u <= f.right + 1 && v >= f.top - 1 && v <= f.bottom + 1)) return;
  put(f, "dot" + k, "circle", { cx: u, cy: v, r: numbered ? 8 : 6, class: `dot m${k}` }, f.marks);
  if (numbered) put(f, "name" + k, "text", { x: u, y: v + 4, class: "middle number" }, f.marks, k + 1);
}
// Under the pointer: a cross at the point, its words beside it, and the same for a screen reader.
function hover(f, lookup) {
  const note = f.svg.parentNode.querySelector("output");
  const clear = () => { note.textContent = ""; f.tip?.remove(); f.tip = null; };
  f.svg.onpointermove = (event) => {
    const spot = f.svg.getBoundingClientRect(), u = (event.clientX - spot.left) / spot.width * f.width;
    const v = f.xs[0] + (u - f.left) / (f.right - f.left) * (f.xs[1] - f.xs[0]);
    if (!(v >= f.xs[0] && v <= f.xs[1])) return clear();
    const [words, px, py] = lookup(v), x = f.x(px), y = f.y(Number.isFinite(py) ? clip(py, ...f.ys) : f.ys[0]), room = Math.floor((f.right - f.left) * 0.6 / 6.6);
    if (note.textContent === words && f.tip) return;
    clear();
    note.textContent = words;
    f.tip = element("g", { class: "tip" }, f.svg);
    element("path", { d: `M${x} ${f.top}V${f.bottom}M${f.left} ${y}H${f.right}`, class: "cross" }, f.tip);
    const lines = words.split(" ").reduce((all, word) => {
      const last = all[all.length - 1];
      if (last && (last + " " + word).length <= room) all[all.length - 1] += " " + word; else all.push(word.slice(0, room));
      return all;
    }, []);
    const wide = 6.6 * Math.max(...lines.map((t) => t.length)) + 12, tall = 16 * lines.length + 8;
    const left = clip(x + 10 + wide > f.right ? x - 10 - wide : x + 10, f.left, f.right - wide), above = clip(y - tall - 8 < f.top ? y + 8 : y - tall - 8, f.top, f.bottom - tall);
    element("rect", { x: left, y: above, width: wide, height: tall, rx: 5 }, f.tip);
    lines.forEach((t, k) => element("text", { x: left + 6, y: above + 16 + 16 * k }, f.tip, t));
  };
  f.svg.onpointerleave = clear;
}
