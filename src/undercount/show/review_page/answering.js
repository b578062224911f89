// ---- the page: one case after the other; answers stay in this browser until they are saved ----
const $ = (id) => document.getElementById(id), facts = JSON.parse($("facts").textContent);
const n = facts.stratum.length, place = { now: 0 }, answers = new Array(n).fill(null), seen = new Array(n).fill(false);
const STORE = `undercount-review-${facts.store}`, SKIPPED = "skipped";
// Verdicts of the file that the page was made of come first, then what this browser has kept.
facts.verdict.forEach((v, i) => { answers[i] = v; seen[i] = v !== null; });
function restore() {
  try {
    const kept = JSON.parse(localStorage.getItem(STORE) || "{}");
    for (const [i, v] of Object.entries(kept)) if (i >= 0 && i < n) { seen[i] = true; answers[i] = v === SKIPPED ? null : v; }
  } catch { /* a browser that keeps nothing: answers last as long as the page */ }
}
function keep() {
  const kept = {};
  seen.forEach((s, i) => { if (s) kept[i] = answers[i] === null ? SKIPPED : answers[i]; });
  try { localStorage.setItem(STORE, JSON.stringify(kept)); } catch { /* as above */ }
}
const answered = () => answers.filter((a) => a !== null).length;
const element = (name, text, kind) => {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
};
function showCase() {
  const i = place.now, over = i >= n;
  $("case").hidden = over;
  $("done").hidden = !over;
  for (const id of ["yes", "no", "skip"]) $(id).disabled = over;
  $("back").disabled = i === 0;
  if (!over) {
    $("case-title").textContent = `Case ${i + 1} of ${n}` + (facts.row[i] ? ` · row ${facts.row[i].toLocaleString("en")}` : "");
    $("columns").replaceChildren(...facts.columns.flatMap(({ name, values }) => [element("dt", name), element("dd", values[i])]));
    $("given").textContent = !seen[i] ? "" : answers[i] === null ? "Skipped before." : `Answered ${answers[i] ? "yes" : "no"} before.`;
  }
  for (const [id, v] of [["yes", 1], ["no", 0]]) $(id).setAttribute("aria-pressed", String(!over && answers[i] === v));
  $("progress").value = answered();
  $("progress-words").textContent = `${answered()} of ${n} answered`;
}
const said = (v) => Number.isFinite(v) ? v.toFixed(3) : "–";
const told = (e) => e && !e.early && Number.isFinite(e.low);
function showEstimates() {
  const found = estimateAll(facts, answers);
  $("goals").replaceChildren(...facts.goals.map((goal, k) => {
    const row = document.createElement("tr"), e = found[k];
    const fits = told(e), words = !e ? "no verdict yet" : fits ? `${said(e.low)} – ${said(e.high)} (± ${said((e.high - e.low) / 2)})` : "too few verdicts";
    row.append(element("td", goal.title), element("td", fits ? said(e.value) : "–"), element("td", words));
    return row;
  }));
}
// The interval after the first verdicts, after more, and so on; as the plan's order has them.
function history(points = 24) {
  const order = answers.map((a, i) => a === null ? -1 : i).filter((i) => i >= 0), out = [];
  for (let k = 1; k <= Math.min(points, order.length); k += 1) {
    const many = Math.round(k * order.length / Math.min(points, order.length)), some = new Array(n).fill(null);
    for (const i of order.slice(0, many)) some[i] = answers[i];
    const found = estimateAll(facts, some);
    if (told(found[0])) out.push([many, found[0]]);
  }
  return out;
}
function showChart() {
  const svg = $("chart"), spots = history(), make = (name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, v] of Object.entries(attributes)) made.setAttribute(key, v);
    if (text) made.textContent = text;
    return made;
  };
  const [least, most] = facts.goals[0].range, x = (k) => 30 + 280 * k / n, y = (v) => 92 - 84 * (v - least) / (most - least);
  const parts = [least, (least + most) / 2, most].flatMap((v) => [make("line", { class: "grid", x1: 30, x2: 310, y1: y(v), y2: y(v) }), make("text", { class: "end", x: 26, y: y(v) + 3 }, String(v))]);
  if (spots.length > 1) {
    const line = (end) => spots.map(([k, e]) => `${x(k)},${y(Math.min(Math.max(e[end], least), most))}`);
    parts.push(make("polygon", { class: "band", points: [...line("low"), ...line("high").reverse()].join(" ") }), make("polyline", { class: "line", points: line("value").join(" ") }));
  }
  parts.push(make("text", { x: 30, y: 106 }, "verdicts"), make("text", { class: "end", x: 310, y: 106 }, String(n)));
  svg.replaceChildren(...parts);
}
let drawing = 0;
function refresh() {
  showCase();
  showEstimates();
  cancelAnimationFrame(drawing);
  drawing = requestAnimationFrame(showChart);
}
function answer(value) {
  if (place.now >= n) return;
  answers[place.now] = value;
  seen[place.now] = true;
  $("spoken").textContent = `Case ${place.now + 1}: ${value === null ? "skipped" : value ? "yes" : "no"}`;
  place.now += 1;
  keep();
  refresh();
}
function back() {
  if (place.now > 0) place.now -= 1;
  refresh();
}
const cell = (text) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
function asCsv() {
  const [header, ...rows] = facts.table, at = header.indexOf("verdict", header.length - 5);
  const lines = rows.map((row, i) => row.map((text, k) => k === at ? (answers[i] === null ? "" : String(answers[i])) : text));
  return "\ufeff" + [header, ...lines].map((row) => row.map(cell).join(",") + "\r\n").join("");
}
function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([asCsv()], { type: "text/csv" }));
  link.download = "review.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  $("spoken").textContent = `Saved ${answered()} answers`;
}
restore();
place.now = seen.indexOf(false) < 0 ? n : seen.indexOf(false);
$("yes").addEventListener("click", () => answer(1));
$("no").addEventListener("click", () => answer(0));
$("skip").addEventListener("click", () => answer(null));
$("back").addEventListener("click", back);
$("save").addEventListener("click", save);
const KEYS = { y: () => answer(1), 1: () => answer(1), n: () => answer(0), 0: () => answer(0), s: () => answer(null), b: back, ArrowLeft: back, Backspace: back };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
window.undercount = { facts, answers, estimate: () => estimateAll(facts, answers), asCsv, settle: () => {} };
refresh();
