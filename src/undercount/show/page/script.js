// ---- everything that follows from the state ----
let drawn = {};
function update(everything = false) {
  const model = models[state.model], i = indexOf(model), all = models.map(rowsOf), rows = all[state.model];
  const share = shareOf(model), purity = purityOf(model), most = largestShare(model, purity), here = largestAt(model, i, purity), ruled = ruledOut(model);
  $("share").value = share; $("purity").value = purity;
  $("gamma").value = Math.log(state.gamma); $("threshold").max = model.m - 1; $("threshold").value = model.m - i;
  const cut = cutOf(model), said = { share: percent(share), purity: percent(purity), gamma: state.gamma.toFixed(2), threshold: cut };
  for (const name in said) { text(name + "-value", said[name]); $(name).setAttribute("aria-valuetext", said[name]); }
  rail(model, Math.min(most, here), most);
  const warning = ruled ? `${percent(share)} is more than these scores allow (at most ${percent(most)}, apart from chance): no numbers there.`
    : rows.every((row) => row.fits) ? ""
    : `At threshold ${cut} ${passing(model, share)}: at most ${percent(here)} hidden positives fit there, apart from chance.`;
  text("infeasible", warning); $("infeasible").hidden = !warning;
  document.body.classList.toggle("biased", state.gamma > 1);
  rows.forEach((row, k) => {
    const c = $("numbers").rows[k].cells, bias = row.bias ? span(...row.bias) : state.gamma > 1 ? "–" : "";
    const name = k < POINT.length ? `${title(row.name)}@${cut}` : title(row.name);
    [name, number(row.naive), number(row.value), span(row.low, row.high), bias, row.needs].forEach((words, j) => cell(c[j], words));
  });
  text("flagged", flaggedWords(model, rows, i));
  const lead = leadOf(model, rows), light = lightOf(model, rows, ruled), still = !moved();
  text("light", light); $("light").className = "light " + light.split(" ")[0];
  text("lead", `${title(lead.name)} ${number(lead.value)}`);
  text("lead-range", span(lead.low, lead.high) + (lead.bias ? ` · labelling bias up to Γ: ${span(...lead.bias)}` : ""));
  text("plain", still ? model.words.plain : sentence(lead, model.single));
  text("change", still ? model.words.change : changeWords(model, lead, i));
  text("weakest", model.words.weakest);
  $("moved").hidden = still && state.gamma === 1;
  text("goal-answer", goalWords(model, i));
  if (models.length > 1) compare(all);
  drawn = {}; kept.clear();
  for (const id in DRAW) if (everything || seen.has(id)) draw(id);
  clearTimeout(later); later = setTimeout(settle, 200);
}
// When the hand rests: charts out of view, the address, and what a screen reader hears.
let later = 0;
function settle() {
  for (const id in DRAW) draw(id);
  if ((location.hash || "#") !== hash()) history.replaceState(null, "", hash());
  $("link").href = hash();
  if (moved() || state.gamma > 1) text("spoken", `${$("lead").textContent}, ${$("lead-range").textContent}, ${$("light").textContent}`);
}
function compare(all) {
  all.forEach((rows, k) => {
    const c = $("compared").rows[k].cells;
    rows.forEach((row, j) => {
      const best = Math.max(...all.map((other) => other[j].value).filter(Number.isFinite));
      cell(c[j + 1].firstChild, number(row.value)); cell(c[j + 1].lastChild, span(row.low, row.high));
      c[j + 1].className = row.value === best ? "value" : "";
    });
    cell(c[10], lightOf(models[k], rows, ruledOut(models[k])));
  });
}
function rail(model, here, most) {
  const svg = $("share-rail"), at = (v) => 100 * clip(v / top);
  if (!svg.children.length || svg.dataset.of !== String(state.model)) {
    svg.replaceChildren();
    for (const k of ["here", "most"]) element("rect", { y: 0, height: 8, class: "ruled-out " + k }, svg);
    for (const [name, v] of Object.entries(model.hidden_share.estimates)) {
      if (v !== null) element("title", {}, element("line", { x1: at(v), x2: at(v), y1: 0, y2: 8, class: "tick" }, svg), `${name}: ${percent(v)}`);
    }
    svg.dataset.of = state.model;
  }
  [here, most].forEach((v, k) => { svg.children[k].setAttribute("x", at(v)); svg.children[k].setAttribute("width", 100 - at(v)); });
}

// ---- hands ----
function markdown() {
  const model = models[state.model], safe = (words) => words.replace(/[|\\`<\s]+/g, (c) => /\s/.test(c) ? " " : "\\" + c);
  const taken = `hidden positives ${percent(shareOf(model))}, purity ${percent(purityOf(model))}, Γ ${state.gamma.toFixed(2)}`;
  const lines = [`${safe(brief(model.name))}: ${taken}`, ""];
  for (const row of [...document.querySelectorAll("#table tr")]) {
    lines.push("| " + [...row.cells].filter((c) => c.cellIndex !== 4 || state.gamma > 1).map((c) => c.textContent).join(" | ") + " |");
    if (lines.length === 3) lines.push(lines[2].replace(/[^|]+/g, "---"));
  }
  return lines.join("\n") + "\n";
}
let waiting = false;
function soon() { // one update a frame, however fast the hand
  if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; update(); }); }
}
function controls() {
  models.forEach((_, k) => { if (several) { $("show-" + k).checked = shown(k); $("pick-" + k).checked = k === state.model; } });
}
function bind(id, set) { $(id).addEventListener("input", (event) => { set(Number(event.target.value), event.target); soon(); }); }
$("share").max = top; $("share").step = top / 500; $("gamma").max = Math.log(5);
bind("share", (v) => { state.share = Math.min(v, lowestPurity() - 1e-3); });
bind("purity", (v) => { state.purity = Math.max(v, ...models.map((m) => shareOf(m) + 1e-3)); });
bind("gamma", (v) => { state.gamma = v < 1e-9 ? 1 : Math.exp(v); });
bind("threshold", (v) => { const m = models[state.model].m; state.place = (m - v) / m; });
for (const id of ["sweep-metric", "goal-metric", "goal-value"]) bind(id, () => {});
models.forEach((_, k) => {
  if (!several) return;
  bind("show-" + k, (_v, box) => { state.hide = box.checked ? state.hide & ~(1 << k) : state.hide | 1 << k; });
  bind("pick-" + k, () => { state.model = k; });
});
$("reset").addEventListener("click", () => { Object.assign(state, first); controls(); soon(); });
$("copy").addEventListener("click", () => {
  const byHand = () => { const box = $("copy-area"); box.hidden = false; box.value = markdown(); box.select(); text("copied", "press Ctrl+C"); };
  if (navigator.clipboard) navigator.clipboard.writeText(markdown()).then(() => text("copied", "copied"), byHand); else byHand();
});
$("download").addEventListener("click", () => {
  const facts = structuredClone(data.document), link = document.createElement("a");
  facts.models.forEach(({ curve }) => ["positive", "negative", "unlabeled"].forEach((kind) => { let s = 0; curve[kind] = curve[kind].map((v) => (s += v)); }));
  link.href = URL.createObjectURL(new Blob([JSON.stringify(facts, null, 1)], { type: "application/json" }));
  link.download = "evaluation.json";
  link.click();
});
window.addEventListener("hashchange", () => { readHash(); controls(); soon(); });
window.addEventListener("beforeprint", settle);
window.addEventListener("resize", () => { for (const id in frames) delete frames[id]; soon(); });
const watch = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) if (isIntersecting) { seen.add(target.id); draw(target.id); } else seen.delete(target.id);
});
document.body.classList.add("live");
readHash(); controls();
for (const id in DRAW) watch.observe($(id));
window.undercount = { // for the tests and the curious
  data, models, state, update, settle, markdown, prepare, recover, naiveCurve, area, estimate, valueAt,
  biasEnds, largestShare, largestAt, leastShare, largestBias, bandOf, calibrationEnds, mix,
};
update(); settle();
