// ---- the charts ----
const seen = new Set(), kept = new Map();
function curveOf(model) {
  if (!kept.has(model)) kept.set(model, model.found ? foundCurve(model) : recover(model, shareOf(model), purityOf(model)));
  return kept.get(model);
}
// What reviews found, straight between the points that the page holds.
function foundCurve(model) {
  const { at, tpr: given, prevalence } = model.found, [p, u, n] = model.heads, m = model.m;
  const flagged = p.map((v, i) => model.single ? (v + u[i] + n[i]) / model.total : u[i] / model.sizes[1]), tpr = new Float64Array(m + 1);
  for (let i = 1, k = 0; i <= m; i++) {
    while (at[k] < i) k++;
    const from = k ? at[k - 1] : 0, low = k ? given[k - 1] : 0;
    tpr[i] = low + (i - from) / (at[k] - from) * (given[k] - low);
  }
  return { tpr, fpr: tpr.map((t, i) => (flagged[i] - prevalence * t) / (1 - prevalence)), flagged, prevalence };
}
// The same to draw. What single verdicts stand for may make recall fall, or precision pass 1, by chance, as no curve of
// rows does: it is drawn without that, through the point of the threshold.
function drawnCurve(model) {
  const c = curveOf(model);
  if (!model.found) return c;
  const { flagged, prevalence } = c, at = indexOf(model), here = c.tpr[at];
  let top = 0;
  const tpr = c.tpr.map((v, i) => {
    if (i === at) return (top = here);
    top = Math.max(top, i < at ? Math.min(clip(v), flagged[i] / prevalence, here) : clip(v));
    return top;
  });
  return { ...c, tpr, fpr: tpr.map((t, i) => (flagged[i] - prevalence * t) / (1 - prevalence)) };
}
const each = (f, act) => { models.forEach((model, k) => { if (shown(k)) act(model, k); }); tidy(f); };
const several = models.length > 1;
// Limits of recall and precision at some of the thresholds, those of the table, widened to the labelling bias.
// Along a false-positive rate the share moves the place as well: drawBand adds it, so that "roc" leaves it out.
function bandOf(model) {
  if (model.bands) return { ...model.bands, roc: model.bands.recall };
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
  if (model.reviews || Math.abs(shareOf(model) - h.value) > 1e-12 || !(h.low < h.high)) return [];
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
    const c = drawnCurve(model), xs = c[xOf], naive = model.naive;
    if (k === state.model) {
      if (withNaive) drawNaive(f, model, k, naive[xOf], naive.tpr);
      if (xOf === "fpr") drawBand(f, model, k, xs, c.tpr, "roc", shareCurves(model)); else drawBand(f, model, k, xs, c.tpr, "recall");
      if (!open(model) || xOf !== "fpr") hover(f, (v) => { const j = nearest(xs, v); return [`${brief(model.name)}: recall ${number(c.tpr[j])} ${say(xs[j])}`, xs[j], c.tpr[j]]; });
    }
    if (open(model) && xOf === "fpr") return; // recall by rows flagged needs no share
    line(f, "line" + k, xs, c.tpr, `line m${k}`);
    marker(f, xs[indexOf(model)], c.tpr[indexOf(model)], k, several);
  });
}
// Limits of the share of positives in a group: Wilson's for its labelled rows (drawn apart: for both rates), and the ends
// of the share's interval; distances add in squares, side by side, as in CalibrationDisplay.
// Wilson's limits of a rate; of one to three labels the lower one is that of a Poisson number.
function rateEnds(rate, trials, z) {
  const [low, high] = wilson(rate, trials, z), found = rate * trials;
  if (!(found > 0 && found <= 3)) return [low, high];
  const tail = (x) => { let sum = 0, term = 1; for (let k = 0; term > 1e-17 * sum; k++) { if (k) term *= x / (found + k); sum += term; } return sum * x ** found * Math.exp(-x); };
  const most = 2 * normal(-z) * gammaPlusOne(found);
  return [Math.min(low, root((x) => tail(x) > most, 0, found) / trials), high];
}
// Γ(v + 1) for v in (0, 3], by Stirling's series ten steps further on.
function gammaPlusOne(v) {
  let x = v + 1, down = 1;
  for (let k = 0; k < 10; k++) down *= x++;
  return Math.sqrt(2 * Math.PI / x) * (x / Math.E) ** x * Math.exp(1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5) - 1 / (1680 * x ** 7)) / down;
}
function calibrationEnds(model, x, [g, q, everyone]) {
  const { sizes, effective, units, single, z } = model, read = (y, a, b) => y.prevalence * (y.positive[0] * a + y.positive[1] * b) / (single ? everyone : b);
  const value = read(x, g, q), h = model.hidden_share, pairs = [], purity = purityOf(model), rows = g * sizes[0] + q * sizes[1];
  if (!single) pairs.push(rateEnds(g, effective[0], z).map((end) => read(x, end, q)), wilson(q, effective[1], z).map((end) => read(x, g, end)));
  else if (rows > 0) pairs.push(rateEnds(g * sizes[0] / rows, rows / units[0], z).map((end) => read(x, end * rows / sizes[0], (1 - end) * rows / sizes[1])));
  if (own(model) && Math.abs(shareOf(model) - h.value) < 1e-12 && h.low < h.high) pairs.push([h.low, Math.min(h.high, purity - 1e-6)].map((share) => read(mix(sizes, "", share, purity, single), g, q)));
  const reach = (side) => Math.hypot(...pairs.map((pair) => Math.max(...pair.map((end) => side * (end - value)), 0)));
  return [Math.min(clip(value - reach(-1)), value), Math.max(clip(value + reach(1)), value)];
}
// Groups of about equal numbers of rows, as in CalibrationDisplay: mean score, share of positives, and its interval.
function calibrate(model, count = 10) {
  const sums = Array.from({ length: count }, () => [0, 0, 0, 0, 0, 0]), c = model.curve, cells = [c.positive, c.unlabeled, c.negative], seen = model.found && curveOf(model);
  let above = 0;
  c.threshold.forEach((t, i) => {
    const rows = cells[0][i] + cells[1][i] + cells[2][i], g = sums[Math.min(count - 1, Math.floor((above + rows / 2) / model.total * count))];
    above += rows;
    KINDS.forEach((k) => { g[k] += cells[k][i]; });
    g[3] += rows * (t || 0);
    if (seen) g[4] += seen.prevalence * (seen.tpr[i + 1] - seen.tpr[i]), g[5] += seen.flagged[i + 1] - seen.flagged[i];
  });
  const x = mix(model.sizes, "", shareOf(model), purityOf(model), model.single);
  return sums.filter((g) => g[0] + g[1] + g[2] > 0).map(([p, u, n, weighted, positive, rows]) => {
    if (seen) return { score: weighted / (p + u + n), share: positive / rows };
    const bare = !!model.bands; // the library has no interval of a group
    const g = p / model.sizes[0], q = u / model.sizes[1], all = p + u + n, everyone = model.single ? all / model.total : q;
    const [low, high] = bare ? [] : calibrationEnds(model, x, [g, q, everyone]);
    return { score: weighted / all, share: x.prevalence * (x.positive[0] * g + x.positive[1] * q) / everyone, low, high };
  });
}
const DRAW = {
  pr() {
    const f = frame("pr", "recall", "precision", [0, 1], [0, 1]), precise = (c, j) => c.prevalence * c.tpr[j] / c.flagged[j];
    each(f, (model, k) => {
      const c = drawnCurve(model), naive = model.naive, i = indexOf(model);
      // Where precision would pass 1 the curve is not drawn: such rates are impossible.
      const ys = c.tpr.map((_, j) => { const p = precise(c, j); return p <= 1 + 1e-9 ? p : NaN; });
      if (k === state.model) {
        model.before = model.before || naive.tpr.map((_, j) => precise(naive, j));
        drawNaive(f, model, k, naive.tpr, model.before);
        drawBand(f, model, k, c.tpr, c.tpr.map((_, j) => precise(c, j)), "precision");
        if (!open(model)) hover(f, (v) => { const j = nearest(c.tpr, v); return [`${brief(model.name)}: precision ${number(ys[j])} at recall ${number(c.tpr[j])}`, c.tpr[j], ys[j]]; });
      }
      if (open(model)) return; // a curve would show one share as if it were known
      line(f, "line" + k, c.tpr, ys, `line m${k}`, 1);
      marker(f, c.tpr[i], ys[i], k, several);
    });
  },
  roc() { rocLike("roc", "false-positive rate", "fpr", (v) => `at false-positive rate ${number(v)}`, true); },
  lift() { rocLike("lift", "share of rows flagged", "flagged", (v) => `with ${percent(v)} flagged`, false); },
  histogram() {
    const model = models[state.model], share = shareOf(model), purity = purityOf(model), bins = 40, c = model.curve;
    const root = (v) => v < -1e-12 ? NaN : Math.sqrt(Math.max(0, v)); // no negative shares: a gap
    const scores = c.threshold.filter((v) => v !== null), low = Math.min(...scores, Infinity), high = Math.max(...scores, -Infinity);
    const width = (high - low) / bins || 1, sums = [0, 1, 2].map(() => new Float64Array(bins)), seen = model.found && curveOf(model);
    if (low > high) return;
    c.threshold.forEach((t, i) => {
      const b = t === null ? (i ? 0 : bins - 1) : clip(Math.floor((t - low) / width), 0, bins - 1);
      sums[0][b] += model.masses[0][i]; sums[1][b] += model.masses[1][i];
      if (seen) sums[2][b] += seen.fpr[i + 1] - seen.fpr[i];
    });
    const peak = Math.max(...sums[0].map(root), ...sums[1].map(root)) * 1.05;
    const f = frame("histogram", "score", "share of rows", [low, high > low ? high : low + 1], [0, peak], plainTick, (v) => plainTick(+(100 * v * v).toPrecision(2)) + " %");
    const edges = [...sums[0].keys()].flatMap((b) => [low + b * width, low + (b + 1) * width]), steps = (v) => [...v].flatMap((u) => [root(u), root(u)]);
    band(f, "unlabeled", edges, edges.map(() => 0), steps(sums[1]), "fill-unlabeled");
    if (!open(model)) line(f, "negative", edges, steps(seen ? sums[2] : sums[1].map((u, b) => (purity * u - share * sums[0][b]) / (purity - share))), "line-negative");
    line(f, "labelled", edges, steps(sums[0]), "line-labelled");
    const t = c.threshold[indexOf(model) - 1];
    if (Number.isFinite(t)) rule(f, "cut", t, 0, t, peak, "cut");
    hover(f, (v) => {
      const b = clip(Math.floor((v - low) / width), 0, bins - 1);
      return [`score ${+(low + (b + 0.5) * width).toPrecision(3)}: ${percent(sums[0][b])} of the labelled, ${percent(sums[1][b])} of the unlabeled rows`, low + (b + 0.5) * width, root(Math.max(sums[0][b], sums[1][b]))];
    });
    tidy(f);
  },
  sweep() {
    const name = $("sweep-metric").value, { area: isArea, least } = FACTS[name];
    const model = models[state.model], purity = purityOf(model), share = shareOf(model);
    $("sweep-part").hidden = !!model.found; // reviews determine the share
    if (model.found) return;
    const most = (m) => Math.min(limitOf(m, purityOf(m)), isArea ? Math.max(purityOf(m) - m.separation, 0) : largestAt(m, indexOf(m), purityOf(m)));
    const value = (m, s) => valueAt(m, name, indexOf(m), s, purityOf(m)), limit = limitOf(model, purity), end = Math.min(top, purity);
    const f = frame("sweep", "hidden positives among the unlabeled", title(name), [0, end], [least, 1], percentTick);
    put(f, "ruled", "rect", { x: f.x(limit), y: f.top, width: Math.max(0, f.right - f.x(limit)), height: f.bottom - f.top, class: "ruled-out" });
    const { low, high } = model.hidden_share;
    if (low < high) put(f, "given", "rect", { x: f.x(low), y: f.top, width: f.x(high) - f.x(low), height: f.bottom - f.top, class: "given" });
    if (!open(model)) rule(f, "cut", share, least, share, 1, "cut");
    Object.values(model.hidden_share.estimates).forEach((v, j) => {
      if (v !== null) rule(f, "tick" + j, v, least, v, least + (1 - least) / 25, "tick");
    });
    each(f, (m, k) => {
      const stop = Math.min(most(m), end), grid = Float64Array.from({ length: 41 }, (_, j) => j / 40 * stop);
      line(f, "line" + k, grid, grid.map((s) => value(m, s)), `line m${k}`);
      if (!open(m) && shareOf(m) <= stop + 1e-12) marker(f, shareOf(m), value(m, shareOf(m)), k, several);
    });
    hover(f, (v) => v > limit ? [`${percent(v)} is ruled out`, v, least] : v > most(model) ? [`at ${percent(v)} ${passing(model, v)}`, v, 1] : [`${title(name)} ${number(value(model, v))} at ${percent(v)} hidden`, v, value(model, v)]);
    text("sweep-note", limit < end ? `Above ${limitText(model)} ruled out.` : "");
  },
  calibration() {
    const model = models[state.model], c = model.curve, scores = c.threshold.filter((v) => v !== null);
    const fits = scores.length > 0 && Math.min(...scores) >= 0 && Math.max(...scores) <= 1;
    $("calibration-part").hidden = !fits;
    if (!fits) return;
    const f = frame("calibration", "score", "share that is positive", [0, 1], [0, 1]), groups = calibrate(model);
    rule(f, "chance", 0, 0, 1, 1, "chance");
    const xs = groups.map((g) => g.score), inside = (v) => clip(v);
    if (!open(model)) line(f, "line", xs, groups.map((g) => inside(g.share)), `line m${state.model}`);
    groups.forEach((g, j) => {
      if (g.low !== undefined) rule(f, "reach" + j, g.score, inside(g.low), g.score, inside(g.high), `whisker m${state.model}`);
      if (!open(model)) put(f, "dot" + j, "circle", { cx: f.x(g.score), cy: f.y(inside(g.share)), r: 4, class: `dot m${state.model}` });
    });
    hover(f, (v) => {
      const j = xs.reduce((b, u, k) => Math.abs(u - v) < Math.abs(xs[b] - v) ? k : b, 0), g = groups[j];
      const reach = g.low === undefined ? "" : span(inside(g.low), inside(g.high), percent), value = percent(inside(g.share));
      if (open(model)) return [`score ${number(g.score)}: ${reach} positive`, g.score, inside(g.high)];
      return [`score ${number(g.score)}: ${value} positive${reach && ` (${reach})`}`, g.score, inside(g.share)];
    });
    tidy(f);
  },
};
function draw(id) { if (!drawn[id]) { drawn[id] = true; DRAW[id](); } }
