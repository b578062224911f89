// ---- everything that follows from the state ----
let drawn = {};
function update(everything = false) {
  stay();
  const model = models[state.model], i = indexOf(model), all = models.map(rowsOf), rows = all[state.model];
  const share = shareOf(model), purity = purityOf(model), limit = limitOf(model, purity), ruled = ruledOut(model);
  $("share").value = open(model) ? 0 : share; $("purity").value = purity; // no share is taken before one is set
  $("gamma").value = Math.log(state.gamma); $("threshold").max = model.m - 1; $("threshold").value = model.m - i;
  const cut = cutOf(model), said = { share: shareText(model), purity: percent(purity), gamma: state.gamma.toFixed(2), threshold: cut };
  for (const name in said) { text(name + "-value", said[name]); $(name).setAttribute("aria-valuetext", said[name]); }
  rail(model, limit);
  const warning = ruled ? `${said.share} is ruled out: above ${limitText(model)} there are no numbers.`
    : rows.every((row) => row.fits) ? "" : `At threshold ${cut} ${passing(model, share)} with ${said.share} hidden: no numbers there.`;
  text("infeasible", warning); $("infeasible").hidden = !warning;
  document.body.classList.toggle("biased", state.gamma > 1);
  rows.forEach((row, k) => {
    const c = $("numbers").rows[k].cells, bias = row.bias ? span(...row.bias) : state.gamma > 1 ? "–" : "";
    const name = k < POINT.length ? `${title(row.name)}@${cut}` : title(row.name);
    [name, number(row.naive), row.open ? "" : number(row.value), span(row.low, row.high), bias, row.bound, row.needs].forEach((words, j) => cell(c[j], words));
  });
  text("flagged", flaggedWords(model, rows, i));
  const lead = leadOf(model, rows), light = lightOf(model, rows, ruled), still = !moved(), claim = claimOf(model);
  text("light", light); $("light").className = "light " + light.split(" ")[0];
  const [leads, follows] = answer(lead);
  text("lead", `${title(lead.name)}${lead.place || ""} ${leads}`);
  text("lead-range", follows + (lead.bias ? ` · labelling bias up to Γ: ${span(...lead.bias)}` : ""));
  // The light is that of the claim, not of the number: both stand there.
  text("headline", `${$("lead").textContent} ${lead.open ? "" : `(${$("lead-range").textContent})`}${claim ? ` · ${claimName(model, claim).replace(`${title(lead.name)} `, "")}` : ""} · ${light}`);
  text("claim", state.goal < 0 ? (changed() && claim && !model.verdict.required ? claimWords(claim) : model.words.claim) : claimWords(claim) + " (set here)");
  if (document.activeElement !== $("goal-value")) $("goal-value").value = claim ? claim.value : "";
  $("goal-metric").value = claim && CLAIMED.includes(claim.metric) ? claim.metric : CLAIMED[0];
  $("goal-sign").value = claim && !claim.at_least ? 1 : 0;
  const support = supportWords(model, lead, light), asked = changed() || state.goal >= 0;
  text("plain", !still ? sentence(model, lead, support) : asked ? model.words.plain.replace(model.support, "") + support : model.words.plain);
  text("change", changeWords(model, rows, claimAt(model)));
  text("weakest", model.words.weakest);
  bars(rows);
  if (models.length > 1) compare(all);
  drawn = {}; kept.clear();
  for (const id in DRAW) if (everything || seen.has(id)) draw(id);
  clearTimeout(later); later = setTimeout(settle, 200);
}
// One bar a metric: the naive value, the estimate with its interval, the bound that is certain.
function bars(rows) {
  for (const svg of document.querySelectorAll("#bars svg")) {
    const row = rows.find((r) => r.name === svg.dataset.metric), [reach, least, naive, dot] = svg.querySelectorAll("line:not(.audited), circle"), at = (v) => 100 * clip(v) + "%";
    const place = (node, there, places) => { node.toggleAttribute("hidden", !there); if (there) for (const k in places) node.setAttribute(k, places[k]); };
    place(reach, Number.isFinite(row.low), { x1: at(row.low), x2: at(row.high) });
    place(least, row.least !== undefined, { x1: at(row.least), x2: at(row.least) });
    place(naive, Number.isFinite(row.naive), { cx: at(row.naive) });
    place(dot, Number.isFinite(row.value), { cx: at(row.value) });
    const [leads, follows] = answer(row);
    cell(svg.nextElementSibling.firstElementChild, leads); cell(svg.nextElementSibling.lastElementChild, follows);
  }
}
// When the hand rests: charts out of view, the address, and what a screen reader hears.
let later = 0;
function settle() {
  for (const id in DRAW) draw(id);
  // In a notebook's frame the address is not ours to change.
  try { if ((location.hash || "#") !== hash()) history.replaceState(null, "", hash()); $("link").href = hash(); } catch { $("link").hidden = true; }
  if (changed() || state.goal >= 0) text("spoken", `${$("lead").textContent}, ${$("lead-range").textContent}, ${$("light").textContent}`);
}
function compare(all) {
  all.forEach((rows, k) => {
    const c = $("compared").rows[k].cells;
    rows.forEach((row, j) => {
      const best = Math.max(...all.map((other) => other[j].value).filter(Number.isFinite));
      answer(row).forEach((words, side) => cell(c[j + 1].childNodes[side], words));
      c[j + 1].className = row.value === best ? "value" : "";
    });
    cell(c[10], lightOf(models[k], rows, ruledOut(models[k])));
  });
}
function rail(model, limit) {
  const svg = $("share-rail"), at = (v) => 100 * clip(v / top);
  if (!svg.children.length || svg.dataset.of !== String(state.model)) {
    svg.replaceChildren();
    element("rect", { y: 0, height: 8, class: "ruled-out" }, svg);
    for (const [name, v] of Object.entries(model.hidden_share.estimates)) {
      if (v !== null) element("title", {}, element("line", { x1: at(v), x2: at(v), y1: 0, y2: 8, class: "tick" }, svg), `${name}: ${percent(v)}`);
    }
    svg.dataset.of = state.model;
  }
  svg.firstChild.setAttribute("x", at(limit)); svg.firstChild.setAttribute("width", 100 - at(limit));
}

// ---- hands ----
function markdown() {
  const model = models[state.model], safe = (words) => words.replace(/[|\\`<\s]+/g, (c) => /\s/.test(c) ? " " : "\\" + c);
  const taken = `hidden positives ${shareText(model)}, purity ${percent(purityOf(model))}, Γ ${state.gamma.toFixed(2)}`;
  const lines = [`${$("light").textContent}: ${$("claim").textContent}`, "", `${safe(brief(model.name))}: ${taken}`, ""];
  for (const row of [...document.querySelectorAll("#table tr")]) {
    lines.push("| " + [...row.cells].filter((c) => c.cellIndex !== 4 || state.gamma > 1).map((c) => c.textContent).join(" | ") + " |");
    if (lines.length === 5) lines.push(lines[4].replace(/[^|]+/g, "---"));
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
bind("sweep-metric", () => {});
bind("goal-value", (v, box) => { state.most = Number($("goal-sign").value); state.metric = CLAIMED.indexOf($("goal-metric").value); state.goal = box.value !== "" && v >= 0 && v <= 1 ? v : -1; });
bind("goal-sign", (v) => { state.most = v; state.metric = CLAIMED.indexOf($("goal-metric").value); state.goal = clip(Number($("goal-value").value) || 0.5); });
bind("goal-metric", (_v, box) => { state.metric = CLAIMED.indexOf(box.value); state.goal = clip(Number($("goal-value").value) || 0.5); });
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
  const facts = structuredClone(data.document);
  facts.models.forEach(({ curve }) => ["positive", "negative", "unlabeled"].forEach((kind) => { let s = 0; curve[kind] = curve[kind].map((v) => (s += v)); }));
  save("evaluation.json", JSON.stringify(facts, null, 1), "application/json");
});
window.addEventListener("hashchange", () => { readHash(); controls(); soon(); });
window.addEventListener("beforeprint", settle);
window.addEventListener("resize", () => { for (const id in frames) delete frames[id]; soon(); });
const watch = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) if (isIntersecting) { seen.add(target.id); draw(target.id); } else seen.delete(target.id);
});
document.body.classList.add("live");
offerDownloads();
readHash(); controls();
for (const id in DRAW) watch.observe($(id));
window.undercount = { // for the tests and the curious
  data, models, state, update, settle, markdown, prepare, recover, naiveCurve, area, estimate, valueAt,
  biasEnds, largestAt, largestBias, limitOf, judge, claimOf, calibrate, curveOf, rowsOf, shareOf, bandOf, calibrationEnds, mix,
  caseWords, percentsBeside,
};
update(); settle();
