// ---- the charts ----
const seen = new Set(), kept = new Map();
function curveOf(model) {
  if (!kept.has(model)) kept.set(model, recover(model, shareOf(model), purityOf(model)));
  return kept.get(model);
}
const each = (f, act) => { models.forEach((model, k) => { if (shown(k)) act(model, k); }); tidy(f); };
const several = models.length > 1;
// Limits of recall and precision at some of the thresholds, those of the table, widened to the labelling bias.
// Along a false-positive rate the share moves the place as well: drawBand adds it, so that "roc" leaves it out.
function bandOf(model) {
  if (!kept.has("band")) {
    const share = shareOf(model), purity = purityOf(model), h = model.hidden_share, m = model.m, out = {};
    const known = model.known || (model.known = { ...model, errors: [0, model.errors[1]], hidden_share: { ...h, low: h.value, high: h.value } });
    const count = Math.min(m, clip(Math.round(200 / designs(model, share, purity).length), 40, 160));
    const at = Array.from({ length: count }, (_, j) => Math.round(1 + j * (m - 1) / Math.max(1, count - 1)));
    const read = { recall: (i) => estimateWithShare(model, "recall", i, share, purity), precision: (i) => estimateWithShare(model, "precision", i, share, purity) };
    read.roc = purity === 1 ? read.recall : (i) => estimate(known, "recall", i, share, purity);
    for (const name of Object.keys(read)) {
      out[name] = { at: [], low: [], high: [] };
      at.forEach((i) => {
        let { low, high, fits } = read[name](i);
        if (!fits) return;
        if (state.gamma > 1) {
          const ends = biasEnds(model, name === "roc" ? "recall" : name, i, share, purity)(state.gamma);
          if (ends.every(Number.isFinite)) low = Math.min(low, ends[0]), high = Math.max(high, ends[1]);
        }
        out[name].at.push(i); out[name].low.push(low); out[name].high.push(high);
      });
    }
    kept.set("band", out);
  }
  return kept.get("band");
}
// The height of a curve at a place of its axis.
function heightAt(xs, ys, x) {
  let j = 1;
  while (j < xs.length - 1 && xs[j] < x) j++;
  const step = xs[j] - xs[j - 1];
  return step > 0 ? ys[j - 1] + clip((x - xs[j - 1]) / step) * (ys[j] - ys[j - 1]) : ys[j];
}
// The curves at the ends of the share's interval, unless somebody moved the share or it is known.
function shareCurves(model) {
  const h = model.hidden_share, purity = purityOf(model);
  if (Math.abs(shareOf(model) - h.value) > 1e-12 || !(h.low < h.high)) return [];
  return [h.low, Math.min(h.high, purity - 1e-6)].map((share) => recover(model, share, purity));
}
// Limits of the labels and of an estimated share add in squares, side by side, at each place of the axis; the ends of
// a range that was given are no chance, and their distances add.
function drawBand(f, model, k, xs, ys, name, curves = []) {
  const b = bandOf(model)[name], add = model.errors[0] > 0 ? Math.hypot : (u, v) => u + v, low = [], high = [];
  const others = curves.map((c) => [[...c.fpr].sort((u, v) => u - v), [...c.tpr]]);
  if (!b.at.length) return;
  b.at.forEach((i, j) => {
    const moved = others.map(([x, y]) => heightAt(x, y, xs[i])).filter((v) => !Number.isNaN(v)), y = clip(ys[i]);
    low.push(clip(y - add(Math.max(y - b.low[j], 0), Math.max(y - Math.min(...moved, y), 0))));
    high.push(clip(y + add(Math.max(b.high[j] - y, 0), Math.max(Math.max(...moved, y) - y, 0))));
  });
  band(f, "band", b.at.map((i) => xs[i]), low, high, `band m${k}`);
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
      if (xOf === "fpr") drawBand(f, model, k, xs, c.tpr, "roc", shareCurves(model)); else drawBand(f, model, k, xs, c.tpr, "recall");
      hover(f, (v) => { const j = nearest(xs, v); return `${brief(model.name)}: recall ${number(c.tpr[j])} ${say(xs[j])}`; });
    }
    line(f, "line" + k, xs, c.tpr, `line m${k}`);
    marker(f, xs[indexOf(model)], c.tpr[indexOf(model)], k, several);
  });
}
// Limits of the share of positives in a group: Wilson's for its labelled rows (drawn apart: for both rates), and the ends
// of the share's interval; distances add in squares, side by side, as in CalibrationDisplay.
function calibrationEnds(model, x, [g, q, everyone]) {
  const { sizes, effective, units, single, z } = model, read = (y, a, b) => y.prevalence * (y.positive[0] * a + y.positive[1] * b) / (single ? everyone : b);
  const value = read(x, g, q), h = model.hidden_share, pairs = [], purity = purityOf(model), rows = g * sizes[0] + q * sizes[1];
  if (!single) pairs.push(wilson(g, effective[0], z).map((end) => read(x, end, q)), wilson(q, effective[1], z).map((end) => read(x, g, end)));
  else if (rows > 0) pairs.push(wilson(g * sizes[0] / rows, rows / units[0], z).map((end) => read(x, end * rows / sizes[0], (1 - end) * rows / sizes[1])));
  if (Math.abs(shareOf(model) - h.value) < 1e-12 && h.low < h.high) pairs.push([h.low, Math.min(h.high, purity - 1e-6)].map((share) => read(mix(sizes, "", share, purity, single), g, q)));
  const reach = (side) => Math.hypot(...pairs.map((pair) => Math.max(...pair.map((end) => side * (end - value)), 0)));
  return [Math.min(clip(value - reach(-1)), value), Math.max(clip(value + reach(1)), value)];
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
        drawBand(f, model, k, c.tpr, c.tpr.map((_, j) => precise(c, j)), "precision");
        hover(f, (v) => { const j = nearest(c.tpr, v); return `${brief(model.name)}: precision ${number(ys[j])} at recall ${number(c.tpr[j])}`; });
      }
      line(f, "line" + k, c.tpr, ys, `line m${k}`, 1);
      marker(f, c.tpr[i], ys[i], k, several);
    });
  },
  roc() { rocLike("roc", "false-positive rate", "fpr", (v) => `at false-positive rate ${number(v)}`, true); },
  lift() { rocLike("lift", "share flagged", "flagged", (v) => `with ${percent(v)} flagged`, false); },
  histogram() {
    const model = models[state.model], share = shareOf(model), purity = purityOf(model), bins = 40, c = model.curve;
    const root = (v) => v < -1e-12 ? NaN : Math.sqrt(Math.max(0, v)); // no negative shares: a gap
    const scores = c.threshold.filter((v) => v !== null), low = Math.min(...scores, Infinity), high = Math.max(...scores, -Infinity);
    const width = (high - low) / bins || 1, sums = [new Float64Array(bins), new Float64Array(bins)];
    if (low > high) return;
    c.threshold.forEach((t, i) => {
      const b = t === null ? (i ? 0 : bins - 1) : clip(Math.floor((t - low) / width), 0, bins - 1);
      sums[0][b] += model.masses[0][i]; sums[1][b] += model.masses[1][i];
    });
    const peak = Math.max(...sums[0].map(root), ...sums[1].map(root)) * 1.05;
    const f = frame("histogram", "score", "√ share of rows", [low, high > low ? high : low + 1], [0, peak]);
    const edges = [...sums[0].keys()].flatMap((b) => [low + b * width, low + (b + 1) * width]), steps = (v) => [...v].flatMap((u) => [root(u), root(u)]);
    band(f, "unlabeled", edges, edges.map(() => 0), steps(sums[1]), "fill-unlabeled");
    line(f, "negative", edges, steps(sums[1].map((u, b) => (purity * u - share * sums[0][b]) / (purity - share))), "line-negative");
    line(f, "labelled", edges, steps(sums[0]), "line-labelled");
    const t = c.threshold[indexOf(model) - 1];
    if (Number.isFinite(t)) rule(f, "cut", t, 0, t, peak, "cut");
    tidy(f);
  },
  sweep() {
    const name = $("sweep-metric").value, { area: isArea, least } = FACTS[name];
    const model = models[state.model], purity = purityOf(model), share = shareOf(model);
    const most = (m) => Math.min(largestShare(m, purityOf(m)), purityOf(m) - 1e-6, isArea ? 1 : largestAt(m, indexOf(m), purityOf(m)));
    const value = (m, s) => valueAt(m, name, indexOf(m), s, purityOf(m)), limit = most(model), end = Math.min(top, purity);
    const f = frame("sweep", "hidden positives among the unlabeled", title(name), [0, end], [least, 1], percentTick);
    put(f, "ruled", "rect", { x: f.x(limit), y: f.top, width: Math.max(0, f.right - f.x(limit)), height: f.bottom - f.top, class: "ruled-out" });
    const { low, high } = model.hidden_share;
    if (low < high) put(f, "given", "rect", { x: f.x(low), y: f.top, width: f.x(high) - f.x(low), height: f.bottom - f.top, class: "given" });
    rule(f, "cut", share, least, share, 1, "cut");
    Object.values(model.hidden_share.estimates).forEach((v, j) => {
      if (v !== null) rule(f, "tick" + j, v, least, v, least + (1 - least) / 25, "tick");
    });
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
    const ends = filled.map((s) => calibrationEnds(model, x, s));
    line(f, "line", xs, ys, `line m${state.model}`);
    xs.forEach((u, j) => { if (!Number.isNaN(ys[j])) rule(f, "reach" + j, u, ends[j][0], u, ends[j][1], `whisker m${state.model}`); });
    xs.forEach((u, j) => { if (!Number.isNaN(ys[j])) put(f, "dot" + j, "circle", { cx: f.x(u), cy: f.y(ys[j]), r: 4, class: `dot m${state.model}` }); });
    hover(f, (v) => {
      const j = xs.reduce((b, u, k) => Math.abs(u - v) < Math.abs(xs[b] - v) ? k : b, 0);
      return `score ${number(xs[j])}: ${percent(ys[j])} positive (${span(...ends[j], percent)})`;
    });
    tidy(f);
  },
};
function draw(id) { if (!drawn[id]) { drawn[id] = true; DRAW[id](); } }
