// ---- the page: state, words, table, and what is drawn ----
const data = JSON.parse($("facts").textContent);
const models = data.document.models.map((model, k) => prepare(model, data.live[k]));
const TITLES = { roc_auc: "ROC AUC", f1: "F1", mcc: "MCC", lift_auc: "lift AUC" };
const title = (name) => TITLES[name] || name.replaceAll("_", " ");
const brief = (name) => name.length > 40 ? name.slice(0, 39) + "…" : name;
// -1: each model's own, until a slider moves all to the same.
const first = { share: -1, purity: -1, gamma: 1, place: -1, model: 0, hide: 0 };
// The share is one fact of the data, so the model that allows least rules the range.
const top = Math.min(1, 1.25 * Math.max(Math.min(...models.map((m) => largestShare(m, 1))), ...models.map((m) => m.hidden_share.high), 0.016));
const state = { ...first };
const number = (v) => Number.isFinite(v) ? v.toFixed(3) : "–";
const percent = (v) => Number.isFinite(v) ? (100 * v).toFixed(v >= 0.0995 ? 0 : v >= 0.00995 ? 1 : 2) + " %" : "–";
const whole = (v) => Math.round(v).toLocaleString("en");
const span = (low, high, say = number) => Number.isFinite(low) && Number.isFinite(high) ? `${say(low)} – ${say(high)}` : "–";
const shareOf = (model) => state.share < 0 ? model.hidden_share.value : state.share;
const purityOf = (model) => state.purity < 0 ? model.label_purity.value : state.purity;
// The threshold's slider moves all models to the same place in their order of rows.
const indexOf = (model) => state.place < 0 ? model.start : clip(Math.round(state.place * model.m), 1, model.m);
const shown = (k) => !(state.hide >> k & 1);
const moved = () => ["share", "purity", "place"].some((name) => state[name] >= 0);
function cutOf(model) {
  const i = indexOf(model), t = i === model.start ? model.cut : model.curve.threshold[i - 1];
  return t === null ? (i < model.m ? "∞" : "−∞") : String(+t.toPrecision(4));
}
const lowestPurity = () => Math.min(...models.map(purityOf));
const ruledOut = (model) => moved() && shareOf(model) > largestShare(model, purityOf(model)) + 1e-12;
function readHash() {
  Object.assign(state, first);
  for (const part of location.hash.slice(1).split("&")) {
    const [name, text] = part.split("="), value = Number(text);
    if (Object.hasOwn(first, name) && text && Number.isFinite(value)) state[name] = value;
  }
  if (state.purity >= 0) state.purity = clip(state.purity, 0.5);
  if (state.share >= 0) state.share = Math.min(state.share, top, lowestPurity() - 1e-3);
  state.gamma = clip(state.gamma, 1, 5); state.place = clip(state.place, -1);
  if (!models[state.model]) state.model = 0;
}
function hash() {
  const parts = Object.keys(first).filter((name) => state[name] !== first[name]).map((name) => `${name}=${+state[name].toPrecision(10)}`);
  return "#" + parts.join("&");
}

// ---- numbers of one model at the state ----
function rowsOf(model) {
  const i = indexOf(model), gamma = state.gamma, share = shareOf(model), purity = purityOf(model), naive = model.naive || (model.naive = naiveCurve(model));
  const rates = ratesOf(mix(model.sizes, "", share, purity, model.single), ratesAt(model, i)), still = !moved();
  const low = model.plainNaive || (model.plainNaive = AREAS.map((name) => area(naive, name)));
  const grows = purity === 1 && !model.sizes[2] && low[0] >= 0.5;
  return [...POINT, ...AREAS].map((name, j) => {
    const isArea = AREAS.includes(name), before = isArea ? low[AREAS.indexOf(name)] : METRICS[name](naive.tpr[i], naive.fpr[i], naive.prevalence);
    const row = { name, naive: before, ...estimate(model, name, i, share, purity) };
    if (still) [row.naive, row.value, row.low, row.high] = model.rows[j].map((v) => v === null ? NaN : v), row.fits = true;
    if (!row.fits) row.value = row.low = row.high = NaN;
    if (gamma > 1 && row.fits) {
      if (!isArea) row.bias = biasedAt(name, ...rates, gamma);
      else if (name !== "average_precision" && purity === 1) row.bias = biasedArea(model, name, share, purity, gamma);
    }
    const impure = purity < 1 || model.label_purity.low < model.label_purity.high;
    row.needs = "random labels" + (impure ? ", prevalence, purity" : name === "recall" || name === "lift_auc" ? "" : ", prevalence");
    if (grows && !["recall", "specificity", "accuracy", "lift_auc"].includes(name)) row.needs += `; at least ${number(row.naive)} whatever it is`;
    return row;
  });
}
const leadOf = (model, rows) => rows[model.threshold === null ? 6 : 1];
function lightOf(model, rows, ruled) {
  if (!moved() && state.gamma === 1) return model.words.light;
  const lead = leadOf(model, rows), bias = lead.bias || [lead.low, lead.high], has = (level, codes) => model.checks.some((c) => c.level === level && (!codes || codes.includes(c.code)));
  if (ruled || has("fail") || !Number.isFinite(lead.value)) return "not supported";
  if ((lead.high - lead.low) / lead.value > 0.1 || has("warn", ["UC002", "UC011"])) return "depends on the prevalence";
  return (Math.max(lead.high, bias[1]) - Math.min(lead.low, bias[0])) / lead.value > 0.1 ? "depends on fair labelling" : "robust";
}
function sentence(lead) {
  const low = lead.naive < lead.value;
  if (!Number.isFinite(lead.value)) return "This number does not exist at the values set below.";
  if (lead.name === "precision") {
    return `About ${(10 * lead.value).toFixed(0)} of every 10 flagged cases are real.` + (low ? ` "Precision ${percent(lead.naive)}" is too low because many "false alarms" are positives nobody has labelled yet.` : "");
  }
  return `A random positive scores above a random negative in ${percent(lead.value)} of the cases (${span(lead.low, lead.high, percent)}).` + (low ? ` "AUC ${number(lead.naive)}" is too low because unlabeled positives count as errors.` : "");
}
function changeWords(model, lead, i) {
  const precise = lead.name === "precision", goal = precise ? Math.max(0.05, Math.floor(20 * lead.value * 0.9) / 20) : Math.floor(20 * lead.value) / 20;
  if (!Number.isFinite(lead.value)) return "fewer hidden positives, or another threshold";
  const least = leastShare(model, lead.name, goal, i, purityOf(model)), bias = largestBias(model, lead.name, goal, i, shareOf(model), purityOf(model)), parts = [];
  if (least > 0) parts.push(`hidden positives ≥ ${percent(least)}`);
  if (Number.isFinite(bias)) parts.push(`labelling bias below Γ = ${+bias.toPrecision(2)}`);
  const name = precise ? `precision ≥ ${percent(goal)}` : `ROC AUC ≥ ${goal}`;
  return parts.length ? `${name} holds while ${parts.join(" · ")}` : `${name} holds whatever the prevalence`;
}
function goalWords(model, i) {
  const name = $("goal-metric").value, value = Number($("goal-value").value), at = [model, name, value, i];
  const least = leastShare(...at, purityOf(model)), bias = largestBias(...at, shareOf(model), purityOf(model));
  return (Number.isNaN(least) ? "no share that the scores allow is enough" : least === 0 ? "it holds whatever the prevalence" : `it holds from ${percent(least)} hidden positives on`)
    + "; at the share set above " + (Number.isNaN(bias) ? "it does not hold." : bias === Infinity ? "no labelling bias below Γ = 1000 breaks it." : `it survives a labelling bias up to Γ = ${bias.toFixed(2)}.`);
}
const passing = (model, share) => valueAt(model, "specificity", indexOf(model), share, purityOf(model)) > 1 ? "precision would pass 100 %" : "a rate would leave 0 to 100 %";
function flaggedWords(model, rows, i) {
  const [known, u, n] = model.heads.map((h) => h[i]), all = known + u + n, p = rows[1];
  if (!model.single) return "";
  return all ? `Flagged: ${whole(all)} rows (${percent(all / model.total)})` + (Number.isFinite(p.value) ? `, about ${whole(all * p.value)} real (${span(all * p.low, all * p.high, whole)}), ${whole(known)} of them already known.` : ".") : "Flagged: no rows; nothing scores that high.";
}
const text = (id, words) => { const node = $(id); if (node.textContent !== words) node.textContent = words; };
const cell = (node, words) => { if (node.textContent !== words) node.textContent = words; };

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
    : rows.some((row) => !row.fits) ? `At threshold ${cut} ${passing(model, share)}: at most ${percent(here)} hidden positives fit there, apart from chance.` : "";
  text("infeasible", warning); $("infeasible").hidden = !warning;
  document.body.classList.toggle("biased", state.gamma > 1);
  rows.forEach((row, k) => {
    const c = $("numbers").rows[k].cells, bias = row.bias ? span(...row.bias) : state.gamma > 1 ? "–" : "";
    [k < 6 ? `${title(row.name)}@${cut}` : title(row.name), number(row.naive), number(row.value), span(row.low, row.high), bias, row.needs].forEach((words, j) => cell(c[j], words));
  });
  text("flagged", flaggedWords(model, rows, i));
  const lead = leadOf(model, rows), light = lightOf(model, rows, ruled), still = !moved();
  text("light", light); $("light").className = "light " + light.split(" ")[0];
  text("lead", `${title(lead.name)} ${number(lead.value)}`);
  text("lead-range", span(lead.low, lead.high) + (lead.bias ? ` · labelling bias up to Γ: ${span(...lead.bias)}` : ""));
  text("plain", still ? model.words.plain : sentence(lead)); text("change", still ? model.words.change : changeWords(model, lead, i)); text("weakest", model.words.weakest);
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

// ---- the charts ----
const seen = new Set(), kept = new Map();
function curveOf(model) {
  if (!kept.has(model)) kept.set(model, recover(model, shareOf(model), purityOf(model)));
  return kept.get(model);
}
const each = (f, act) => { models.forEach((model, k) => { if (shown(k)) act(model, k); }); tidy(f); };
const several = models.length > 1;
// Limits of recall and precision at some of the thresholds, widened to the labelling bias.
function bandOf(model) {
  if (!kept.has("band")) {
    const list = designs(model, shareOf(model), purityOf(model)), c = curveOf(model), m = model.m, count = Math.min(m, clip(Math.round(400 / list.length), 40, 160));
    const at = Array.from({ length: count }, (_, j) => Math.round(1 + j * (m - 1) / Math.max(1, count - 1))), out = {};
    for (const name of ["recall", "precision"]) {
      out[name] = { at: [], low: [], high: [] };
      at.forEach((i) => {
        let low = Infinity, high = -Infinity, fits = true;
        for (const d of list) { const e = pointEstimate(d, i, name); low = Math.min(low, e.low); high = Math.max(high, e.high); fits &&= e.fits || d !== list[0]; }
        if (!fits) return;
        if (state.gamma > 1) {
          const ends = biasedAt(name, c.tpr[i], c.fpr[i], c.prevalence, state.gamma);
          low = Math.min(low, ends[0]); high = Math.max(high, Math.min(1, ends[1]));
        }
        out[name].at.push(i); out[name].low.push(low); out[name].high.push(high);
      });
    }
    kept.set("band", out);
  }
  return kept.get("band");
}
function drawBand(f, model, k, xs, name) {
  const b = bandOf(model)[name];
  if (b.at.length) band(f, "band", b.at.map((i) => xs[i]), b.low, b.high, `band m${k}`);
}
function drawNaive(f, model, k, xs, ys) { // never moves
  if (f.nodes["naive" + k]) f.used.add("naive" + k); else line(f, "naive" + k, xs, ys, `naive m${k}`, 1);
}
function nearest(xs, v) {
  let best = 1;
  for (let i = 2; i < xs.length; i++) if (Math.abs(xs[i] - v) < Math.abs(xs[best] - v)) best = i;
  return best;
}
function rocLike(id, xLabel, xOf, say, withNaive) {
  const f = frame(id, xLabel, "recall", [0, 1], [0, 1]);
  rule(f, "chance", 0, 0, 1, 1, "chance");
  each(f, (model, k) => {
    const c = curveOf(model), xs = c[xOf], naive = model.naive;
    if (k === state.model) {
      if (withNaive) drawNaive(f, model, k, naive[xOf], naive.tpr);
      drawBand(f, model, k, xs, "recall");
      hover(f, (v) => { const j = nearest(xs, v); return `${brief(model.name)}: recall ${number(c.tpr[j])} ${say(xs[j])}`; });
    }
    line(f, "line" + k, xs, c.tpr, `line m${k}`);
    marker(f, xs[indexOf(model)], c.tpr[indexOf(model)], k, several);
  });
}
const DRAW = {
  pr() {
    const f = frame("pr", "recall", "precision", [0, 1], [0, 1]), precise = (c, j) => c.prevalence * c.tpr[j] / c.flagged[j];
    each(f, (model, k) => {
      const c = curveOf(model), naive = model.naive, i = indexOf(model);
      // Where precision would pass 1 the curve is not drawn: such rates are impossible.
      const ys = c.tpr.map((_, j) => { const p = precise(c, j); return p <= 1 + 1e-9 ? p : NaN; });
      if (k === state.model) {
        model.before = model.before || naive.tpr.map((_, j) => precise(naive, j));
        drawNaive(f, model, k, naive.tpr, model.before);
        drawBand(f, model, k, c.tpr, "precision");
        hover(f, (v) => { const j = nearest(c.tpr, v); return `${brief(model.name)}: precision ${number(ys[j])} at recall ${number(c.tpr[j])}`; });
      }
      line(f, "line" + k, c.tpr, ys, `line m${k}`, 1);
      marker(f, c.tpr[i], ys[i], k, several);
    });
  },
  roc() { rocLike("roc", "false-positive rate", "fpr", (v) => `at false-positive rate ${number(v)}`, true); },
  lift() { rocLike("lift", "share flagged", "flagged", (v) => `with ${percent(v)} flagged`, false); },
  histogram() {
    const model = models[state.model], share = shareOf(model), purity = purityOf(model), bins = 40, c = model.curve, root = (v) => v < -1e-12 ? NaN : Math.sqrt(Math.max(0, v)); // no negative shares: a gap
    const scores = c.threshold.filter((v) => v !== null), low = Math.min(...scores, Infinity), high = Math.max(...scores, -Infinity);
    const width = (high - low) / bins || 1, sums = [new Float64Array(bins), new Float64Array(bins)];
    if (low > high) return;
    c.threshold.forEach((t, i) => {
      const b = t === null ? (i ? 0 : bins - 1) : clip(Math.floor((t - low) / width), 0, bins - 1);
      sums[0][b] += model.masses[0][i]; sums[1][b] += model.masses[1][i];
    });
    const peak = Math.max(...sums[0].map(root), ...sums[1].map(root)) * 1.05, f = frame("histogram", "score", "√ share of rows", [low, high > low ? high : low + 1], [0, peak]);
    const edges = [...sums[0].keys()].flatMap((b) => [low + b * width, low + (b + 1) * width]), steps = (v) => [...v].flatMap((u) => [root(u), root(u)]);
    band(f, "unlabeled", edges, edges.map(() => 0), steps(sums[1]), "fill-unlabeled");
    line(f, "negative", edges, steps(sums[1].map((u, b) => (purity * u - share * sums[0][b]) / (purity - share))), "line-negative");
    line(f, "labelled", edges, steps(sums[0]), "line-labelled");
    const t = c.threshold[indexOf(model) - 1];
    if (Number.isFinite(t)) rule(f, "cut", t, 0, t, peak, "cut");
    tidy(f);
  },
  sweep() {
    const name = $("sweep-metric").value, model = models[state.model], purity = purityOf(model), share = shareOf(model), isArea = AREAS.includes(name), least = name === "mcc" ? -1 : 0;
    const most = (m) => Math.min(largestShare(m, purityOf(m)), purityOf(m) - 1e-6, isArea ? 1 : largestAt(m, indexOf(m), purityOf(m)));
    const value = (m, s) => valueAt(m, name, indexOf(m), s, purityOf(m)), limit = most(model), end = Math.min(top, purity);
    const f = frame("sweep", "hidden positives among the unlabeled", title(name), [0, end], [least, 1], percentTick);
    put(f, "ruled", "rect", { x: f.x(limit), y: f.top, width: Math.max(0, f.right - f.x(limit)), height: f.bottom - f.top, class: "ruled-out" });
    const { low, high } = model.hidden_share;
    if (low < high) put(f, "given", "rect", { x: f.x(low), y: f.top, width: f.x(high) - f.x(low), height: f.bottom - f.top, class: "given" });
    rule(f, "cut", share, least, share, 1, "cut");
    Object.entries(model.hidden_share.estimates).forEach(([_, v], j) => { if (v !== null) rule(f, "tick" + j, v, least, v, least + (1 - least) / 25, "tick"); });
    each(f, (m, k) => {
      const stop = Math.min(most(m), end), grid = Float64Array.from({ length: 41 }, (_, j) => j / 40 * stop);
      line(f, "line" + k, grid, grid.map((s) => value(m, s)), `line m${k}`);
      if (shareOf(m) <= stop + 1e-12) marker(f, shareOf(m), value(m, shareOf(m)), k, several);
    });
    hover(f, (v) => v > limit ? `${percent(v)} is ruled out` : `${title(name)} ${number(value(model, v))} at ${percent(v)} hidden`);
    const here = !isArea && limit < largestShare(model, purity) - 1e-12 ? ` at threshold ${cutOf(model)}, where ${passing(model, limit + 1e-9)}` : "";
    text("sweep-note", limit < end ? `Ruled out above ${percent(limit)}${here}.` : "");
  },
  calibration() {
    const model = models[state.model], c = model.curve, scores = c.threshold.filter((v) => v !== null);
    const fits = scores.length > 0 && Math.min(...scores) >= 0 && Math.max(...scores) <= 1, sums = Array.from({ length: 10 }, () => [0, 0, 0, 0]);
    $("calibration-part").hidden = !fits;
    if (!fits) return;
    const f = frame("calibration", "score", "share that is positive", [0, 1], [0, 1]), x = mix(model.sizes, "", shareOf(model), purityOf(model), model.single);
    rule(f, "chance", 0, 0, 1, 1, "chance");
    c.threshold.forEach((t, i) => {
      const s = sums[clip(Math.floor((t || 0) * 10), 0, 9)], everyone = model.masses.reduce((e, mass, k) => e + x.everyone[k] * mass[i], 0);
      KINDS.slice(0, 2).forEach((k) => { s[k] += model.masses[k][i]; });
      s[2] += everyone; s[3] += everyone * (t || 0);
    });
    const filled = sums.filter((s) => s[2] > 0), xs = filled.map((s) => s[3] / s[2]);
    const ys = filled.map((s) => x.prevalence * (x.positive[0] * s[0] + x.positive[1] * s[1]) / s[2]).map((v) => v >= -1e-9 && v <= 1 + 1e-9 ? v : NaN);
    line(f, "line", xs, ys, `line m${state.model}`);
    xs.forEach((u, j) => { if (!Number.isNaN(ys[j])) put(f, "dot" + j, "circle", { cx: f.x(u), cy: f.y(ys[j]), r: 4, class: `dot m${state.model}` }); });
    hover(f, (v) => { const j = xs.reduce((b, u, k) => Math.abs(u - v) < Math.abs(xs[b] - v) ? k : b, 0); return `score ${number(xs[j])}: ${percent(ys[j])} positive`; });
    tidy(f);
  },
};
function draw(id) { if (!drawn[id]) { drawn[id] = true; DRAW[id](); } }

// ---- hands ----
function markdown() {
  const model = models[state.model], safe = (words) => words.replace(/[|\\`<\s]+/g, (c) => /\s/.test(c) ? " " : "\\" + c);
  const lines = [`${safe(brief(model.name))}: hidden positives ${percent(shareOf(model))}, purity ${percent(purityOf(model))}, Γ ${state.gamma.toFixed(2)}`, ""];
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
window.undercount = { data, models, state, update, settle, markdown, recover, estimate, valueAt, area, biasedRecall, biasedAt, biasedArea, largestShare, largestAt, leastShare, largestBias, naiveCurve };
update(); settle();
