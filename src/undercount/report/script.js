// The live part of the report: the arithmetic of the library on a few hundred points a model.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("facts").textContent);
  const models = data.models;
  const Z = { 0.9: 1.6448536269514722, 0.95: 1.959963984540054, 0.99: 2.5758293035489004 };
  const level = models[0].confidence_level;
  const z = Z[level] || normalQuantile(0.5 + level / 2);

  function normalQuantile(p) { // bisection on the error function is quick enough for one number
    let low = 0, high = 10;
    for (let i = 0; i < 80; i++) {
      const middle = (low + high) / 2;
      if (normalBelow(middle) < p) low = middle; else high = middle;
    }
    return low;
  }
  function normalBelow(x) {
    let sum = x, term = x;
    for (let k = 1; k < 200; k++) { term *= x * x / (2 * k + 1); sum += term; }
    return 0.5 + sum * Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
  }

  // ---- arithmetic: Jain et al. 2017, eqs 1-2; every metric from the two rates and a prevalence ----
  function recover(model, share, purity) {
    const c = model.curve, n = model.counts, gap = purity - share;
    const single = model.sampling === "single-sample";
    const positives = purity * n.labelled_positive + share * n.unlabeled;
    const prevalence = single ? positives / n.rows : share;
    const hidden = n.rows - n.labelled_negative - positives;
    const tpr = [0], fpr = [0], labelled = [0], unlabeled = [0];
    for (let i = 0; i < c.threshold.length; i++) {
      const g = c.positive[i] / n.labelled_positive, q = c.unlabeled[i] / n.unlabeled;
      let f = (purity * q - share * g) / gap;
      if (single && n.labelled_negative > 0) {
        f = (hidden * f + c.negative[i]) / (hidden + n.labelled_negative);
      }
      labelled.push(g); unlabeled.push(q);
      tpr.push(((1 - share) * g - (1 - purity) * q) / gap); fpr.push(f);
    }
    return { tpr, fpr, labelled, unlabeled, prevalence, positives };
  }
  function metricsOf(tpr, fpr, prevalence) {
    const flagged = prevalence * tpr + (1 - prevalence) * fpr;
    const spread = prevalence * (1 - prevalence), right = prevalence * tpr;
    return {
      recall: tpr, precision: right / flagged, f1: 2 * right / (prevalence + flagged),
      specificity: 1 - fpr, accuracy: right + (1 - prevalence) * (1 - fpr),
      mcc: Math.sqrt(spread) * (tpr - fpr) / Math.sqrt(flagged * (1 - flagged)),
      predicted_positive_rate: flagged,
    };
  }
  function trapezoid(y, x) {
    let sum = 0;
    for (let i = 1; i < x.length; i++) sum += (x[i] - x[i - 1]) * (y[i] + y[i - 1]);
    return sum / 2;
  }
  function areas(curve) {
    const flagged = curve.tpr.map((t, i) => curve.prevalence * t + (1 - curve.prevalence) * curve.fpr[i]);
    let precision = 0;
    for (let i = 1; i < curve.tpr.length; i++) {
      const gained = curve.tpr[i] - curve.tpr[i - 1];
      if (gained !== 0) precision += gained * curve.prevalence * curve.tpr[i] / flagged[i];
    }
    return { roc_auc: trapezoid(curve.tpr, curve.fpr), lift_auc: trapezoid(curve.tpr, flagged),
      average_precision: precision };
  }
  function biased(recall, ratio) {
    return [recall / (recall + ratio * (1 - recall)), ratio * recall / (ratio * recall + 1 - recall)];
  }
  function wilson(share, trials) {
    if (!(trials < Infinity)) return [share, share];
    const middle = (share + z * z / (2 * trials)) / (1 + z * z / trials);
    const half = z / (1 + z * z / trials) * Math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials));
    return [Math.max(0, middle - half), Math.min(1, middle + half)];
  }
  // Effective labels for the recall of these very rows; all labels if the population is meant.
  function effectiveLabels(model, curve) {
    const labels = model.counts.labelled_positive, all = curve.positives;
    return model.target === "dataset" && all > labels ? labels * (all - 1) / (all - labels) : labels;
  }
  function intervalsAt(model, curve, i, ratio) {
    const flagged = curve.prevalence * curve.tpr[i] + (1 - curve.prevalence) * curve.fpr[i];
    let [low, high] = wilson(Math.min(1, Math.max(0, curve.tpr[i])), effectiveLabels(model, curve));
    low = biased(low, ratio)[0]; high = biased(high, ratio)[1];
    high = Math.min(high, flagged / curve.prevalence);
    const at = (t) => metricsOf(t, Math.max(0, (flagged - curve.prevalence * t) / (1 - curve.prevalence)), curve.prevalence);
    const one = at(low), two = at(high), out = {};
    for (const name of Object.keys(one)) out[name] = [Math.min(one[name], two[name]), Math.max(one[name], two[name])];
    return out;
  }
  function areaInterval(model, curve, ratio) {
    const n = model.counts, c = model.curve, single = model.sampling === "single-sample";
    const position = [], weight = [];
    let before = 0;
    for (let i = 0; i < c.threshold.length; i++) {
      const all = single ? c.positive[i] + c.negative[i] + c.unlabeled[i] : c.unlabeled[i];
      position.push(1 - (before + all) / 2 / (single ? n.rows : n.unlabeled));
      weight.push(c.positive[i] - (i ? c.positive[i - 1] : 0));
      before = all;
    }
    const total = n.labelled_positive, mean = position.reduce((s, t, i) => s + weight[i] * t, 0) / total;
    const squares = position.reduce((s, t, i) => s + weight[i] * (t - mean) ** 2, 0) / (total - 1);
    const keep = model.target === "dataset" && curve.positives > total ? 1 - total / curve.positives : 1;
    const half = z * Math.sqrt(keep * squares / total), share = curve.prevalence;
    const ends = [extreme(position, weight, ratio, -1), extreme(position, weight, ratio, 1)];
    const lift = [ends[0] - half, ends[1] + half];
    const auc = lift.map((v) => Math.min(1, (v - share / 2) / (1 - share)));
    return { lift_auc: lift, roc_auc: auc };
  }
  function extreme(position, weight, ratio, sign) {
    const order = sign > 0 ? position.keys() : [...position.keys()].reverse();
    let whole = 0, total = 0, head = 0, moved = 0, best = -Infinity;
    for (let i = 0; i < position.length; i++) { whole += weight[i] * position[i]; total += weight[i]; }
    for (const i of order) {
      head += weight[i]; moved += weight[i] * position[i];
      best = Math.max(best, sign * (whole + (ratio - 1) * moved) / (total + (ratio - 1) * head));
    }
    return sign * best;
  }
  function largestShare(model, purity) {
    const area = areas(recover(model, 0, 1)).roc_auc;
    return Math.max(0, purity - Math.abs(2 * area - 1));
  }
  function breakEven(model, metric, value, i, state) {
    const holds = (share) => {
      const curve = recover(model, share, state.purity);
      const got = metric in areas(curve) ? areas(curve)[metric] : metricsOf(curve.tpr[i], curve.fpr[i], curve.prevalence)[metric];
      return got >= value;
    };
    const top = Math.min(largestShare(model, state.purity), state.purity - 1e-6);
    if (holds(0)) return 0;
    if (!holds(top)) return NaN;
    let low = 0, high = top;
    for (let k = 0; k < 60; k++) { const m = (low + high) / 2; if (holds(m)) high = m; else low = m; }
    return high;
  }
  function breakBias(model, metric, value, i, state) {
    const curve = recover(model, state.share, state.purity);
    const holds = (ratio) => {
      if (metric === "roc_auc") {
        const share = curve.prevalence, c = areaInterval(model, curve, ratio);
        const half = areaInterval(model, curve, 1);
        return (c.lift_auc[0] + (half.lift_auc[1] - half.lift_auc[0]) / 2 - share / 2) / (1 - share) >= value;
      }
      const flagged = curve.prevalence * curve.tpr[i] + (1 - curve.prevalence) * curve.fpr[i];
      const t = biased(curve.tpr[i], ratio)[0];
      return metricsOf(t, (flagged - curve.prevalence * t) / (1 - curve.prevalence), curve.prevalence)[metric] >= value;
    };
    if (!holds(1)) return NaN;
    if (holds(1000)) return Infinity;
    let low = 0, high = Math.log(1000);
    for (let k = 0; k < 60; k++) { const m = (low + high) / 2; if (holds(Math.exp(m))) low = m; else high = m; }
    return Math.exp(low);
  }
  window.undercount = { data, recover, metricsOf, areas, biased, largestShare, breakEven, breakBias, intervalsAt, areaInterval };

  // ---- state: sliders, remembered in the address ----
  const $ = (id) => document.getElementById(id);
  const TITLES = { roc_auc: "ROC AUC", average_precision: "average precision", lift_auc: "lift AUC", f1: "F1", mcc: "MCC" };
  const title = (name) => TITLES[name] || name.replaceAll("_", " ");
  const POINT = ["recall", "precision", "f1", "specificity", "accuracy", "mcc"];
  const AREAS = ["roc_auc", "average_precision", "lift_auc"];
  const shown = models.map(() => true);
  const first = {
    share: models[0].hidden_share.value, purity: models[0].label_purity.value, gamma: 1,
    place: startPlace(models[0]), model: 0,
  };
  const state = { ...first, ...fromHash() };

  function startPlace(model) {
    if (model.threshold !== null) return placeOf(model, model.threshold);
    const curve = recover(model, model.hidden_share.value, model.label_purity.value);
    let best = 1, most = -1;
    for (let i = 1; i < curve.tpr.length; i++) {
      const f = metricsOf(curve.tpr[i], curve.fpr[i], curve.prevalence).f1;
      if (curve.fpr[i] >= 0 && f > most) { most = f; best = i; }
    }
    return best / (curve.tpr.length - 1);
  }
  function placeOf(model, threshold) {
    const count = model.curve.threshold.filter((t) => t === null || t >= threshold).length;
    return count / model.curve.threshold.length;
  }
  const indexOf = (model) => Math.max(1, Math.round(state.place * model.curve.threshold.length));
  function fromHash() {
    const out = {};
    for (const part of location.hash.slice(1).split("&")) {
      const [name, text] = part.split("="), value = Number(text);
      if (name in first && text !== undefined && Number.isFinite(value)) out[name] = value;
    }
    if ("model" in out && !models[out.model]) delete out.model;
    return out;
  }
  function toHash() {
    const parts = Object.keys(first).map((name) => `${name}=${+state[name].toPrecision(8)}`);
    history.replaceState(null, "", "#" + parts.join("&"));
  }

  // ---- words and numbers ----
  const number = (v, digits = 3) => Number.isFinite(v) ? v.toFixed(digits) : "–";
  const percent = (v) => Number.isFinite(v) ? (100 * v).toFixed(v >= 0.1 ? 0 : v >= 0.01 ? 1 : 2) + " %" : "–";
  function rowsOf(model) {
    const curve = recover(model, state.share, state.purity), i = indexOf(model);
    const naive = recover({ ...model, sampling: model.sampling }, 0, 1);
    const here = { ...metricsOf(curve.tpr[i], curve.fpr[i], curve.prevalence), ...areas(curve) };
    const before = { ...naiveAt(model, i), ...naiveAreas(model) };
    const ends = { ...intervalsAt(model, curve, i, state.gamma), ...areaInterval(model, curve, state.gamma) };
    const untouched = unmoved();
    return [...POINT, ...AREAS].map((name) => {
      const fact = model.metrics.find((m) => m.metric === name);
      const exact = fact && untouched && (AREAS.includes(name) || fact.threshold !== null);
      const span = exact ? [fact.low, fact.high] : ends[name] || [NaN, NaN];
      return { name, naive: exact ? fact.naive : before[name], value: exact ? fact.estimate : here[name], low: span[0], high: span[1],
        needs: fact ? fact.needs.join(", ") || "nothing" : name === "recall" ? "random labels" : "random labels, prevalence" };
    });
    void naive;
  }
  const unmoved = () => ["share", "purity", "gamma", "place"].every((name) => Math.abs(state[name] - first[name]) < 1e-9);
  function naiveAt(model, i) {
    const n = model.counts, c = model.curve, others = n.labelled_negative + n.unlabeled;
    return metricsOf(c.positive[i - 1] / n.labelled_positive, (c.negative[i - 1] + c.unlabeled[i - 1]) / others, n.labelled_positive / n.rows);
  }
  function naiveCurve(model) {
    const n = model.counts, c = model.curve, others = n.labelled_negative + n.unlabeled;
    return { tpr: [0, ...c.positive.map((v) => v / n.labelled_positive)],
      fpr: [0, ...c.threshold.map((_, i) => (c.negative[i] + c.unlabeled[i]) / others)], prevalence: n.labelled_positive / n.rows };
  }
  const naiveAreas = (model) => areas(naiveCurve(model));

  // ---- charts: small SVG drawings ----
  const NS = "http://www.w3.org/2000/svg";
  function element(name, attributes, parent, text) {
    const node = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.append(node);
    return node;
  }
  const BOX = { left: 46, right: 10, top: 10, bottom: 36, width: 380, height: 300 };
  function frame(id, xLabel, yLabel, xs, ys) {
    const svg = $(id);
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${BOX.width} ${BOX.height}`);
    const w = BOX.width - BOX.left - BOX.right, h = BOX.height - BOX.top - BOX.bottom;
    const x = (v) => BOX.left + (v - xs[0]) / (xs[1] - xs[0]) * w;
    const y = (v) => BOX.top + h - (v - ys[0]) / (ys[1] - ys[0]) * h;
    const clip = `${id}-clip`;
    element("rect", { x: BOX.left, y: BOX.top, width: w, height: h },
      element("clipPath", { id: clip }, element("defs", {}, svg)));
    for (let k = 0; k <= 4; k++) {
      const u = xs[0] + k / 4 * (xs[1] - xs[0]), v = ys[0] + k / 4 * (ys[1] - ys[0]);
      element("line", { x1: x(u), x2: x(u), y1: BOX.top, y2: BOX.top + h, class: "grid" }, svg);
      element("line", { x1: BOX.left, x2: BOX.left + w, y1: y(v), y2: y(v), class: "grid" }, svg);
      element("text", { x: x(u), y: BOX.top + h + 14, "text-anchor": "middle" }, svg, tick(u, xs));
      element("text", { x: BOX.left - 5, y: y(v) + 3.5, "text-anchor": "end" }, svg, tick(v, ys));
    }
    element("text", { x: BOX.left + w / 2, y: BOX.height - 5, "text-anchor": "middle", class: "axis" }, svg, xLabel);
    element("text", { x: -(BOX.top + h / 2), y: 11, transform: "rotate(-90)", "text-anchor": "middle", class: "axis" }, svg, yLabel);
    const plot = element("g", { "clip-path": `url(#${clip})` }, svg);
    return { svg, plot, x, y, xs, ys };
  }
  function tick(v, range) {
    const size = Math.abs(range[1] - range[0]);
    return v.toFixed(size > 20 ? 0 : size > 2 ? 1 : size > 0.2 ? 2 : 3);
  }
  function path(f, xs, ys, name, more = {}) {
    let d = "";
    for (let i = 0; i < xs.length; i++) {
      if (!Number.isFinite(xs[i]) || !Number.isFinite(ys[i])) continue;
      d += (d ? "L" : "M") + f.x(xs[i]).toFixed(2) + " " + f.y(ys[i]).toFixed(2);
    }
    return element("path", { d, class: name, fill: "none", ...more }, f.plot);
  }
  function band(f, xs, low, high, name) {
    const back = [...xs.keys()].reverse();
    let d = "";
    xs.forEach((v, i) => { d += (d ? "L" : "M") + f.x(v).toFixed(2) + " " + f.y(high[i]).toFixed(2); });
    for (const i of back) d += "L" + f.x(xs[i]).toFixed(2) + " " + f.y(low[i]).toFixed(2);
    element("path", { d: d + "Z", class: name }, f.plot);
  }
  function marker(f, x, y, k) {
    if (Number.isFinite(x) && Number.isFinite(y)) element("circle", { cx: f.x(x), cy: f.y(y), r: 5, class: `dot m${k}` }, f.plot);
  }
  function hover(f, lookup) {
    const note = f.svg.parentNode.querySelector("output");
    f.svg.onpointermove = (event) => {
      const spot = f.svg.getBoundingClientRect();
      const u = (event.clientX - spot.left) / spot.width * BOX.width;
      const v = f.xs[0] + (u - BOX.left) / (BOX.width - BOX.left - BOX.right) * (f.xs[1] - f.xs[0]);
      if (v >= f.xs[0] && v <= f.xs[1]) note.textContent = lookup(v);
    };
    f.svg.onpointerleave = () => { note.textContent = ""; };
  }
  const nearest = (xs, v) => xs.reduce((best, x, i) => Math.abs(x - v) < Math.abs(xs[best] - v) ? i : best, 1);
  const visible = () => models.map((model, k) => [model, k]).filter(([, k]) => shown[k]);

  function drawCurves() {
    const roc = frame("roc", "false-positive rate", "recall", [0, 1], [0, 1]);
    const pr = frame("pr", "recall", "precision", [0, 1], [0, 1]);
    const lift = frame("lift", "share flagged", "recall", [0, 1], [0, 1]);
    element("line", { x1: roc.x(0), y1: roc.y(0), x2: roc.x(1), y2: roc.y(1), class: "chance" }, roc.plot);
    element("line", { x1: lift.x(0), y1: lift.y(0), x2: lift.x(1), y2: lift.y(1), class: "chance" }, lift.plot);
    for (const [model, k] of visible()) {
      const curve = recover(model, state.share, state.purity), naive = naiveCurve(model), i = indexOf(model);
      const flagged = curve.tpr.map((t, j) => curve.prevalence * t + (1 - curve.prevalence) * curve.fpr[j]);
      const precision = curve.tpr.map((t, j) => curve.prevalence * t / flagged[j]);
      const before = naive.tpr.map((t, j) => naive.prevalence * t / (naive.prevalence * t + (1 - naive.prevalence) * naive.fpr[j]));
      if (k === state.model) {
        const ends = curve.tpr.map((_, j) => intervalsAt(model, curve, Math.max(j, 1), state.gamma));
        band(roc, curve.fpr, ends.map((e) => e.recall[0]), ends.map((e) => e.recall[1]), `band m${k}`);
        band(lift, flagged, ends.map((e) => e.recall[0]), ends.map((e) => e.recall[1]), `band m${k}`);
        band(pr, curve.tpr.slice(1), ends.slice(1).map((e) => e.precision[0]), ends.slice(1).map((e) => Math.min(1, e.precision[1])), `band m${k}`);
        hover(roc, (v) => { const j = nearest(curve.fpr, v); return `${model.name}: recall ${number(curve.tpr[j])} at FPR ${number(curve.fpr[j])}`; });
        hover(pr, (v) => { const j = nearest(curve.tpr, v); return `${model.name}: precision ${number(precision[j])} at recall ${number(curve.tpr[j])}`; });
        hover(lift, (v) => { const j = nearest(flagged, v); return `${model.name}: recall ${number(curve.tpr[j])} with ${percent(flagged[j])} flagged`; });
      }
      path(roc, naive.fpr, naive.tpr, `naive m${k}`); path(roc, curve.fpr, curve.tpr, `line m${k}`);
      path(pr, naive.tpr.slice(1), before.slice(1), `naive m${k}`); path(pr, curve.tpr.slice(1), precision.slice(1), `line m${k}`);
      path(lift, flagged, curve.tpr, `line m${k}`);
      marker(roc, curve.fpr[i], curve.tpr[i], k); marker(pr, curve.tpr[i], precision[i], k); marker(lift, flagged[i], curve.tpr[i], k);
    }
  }
  function drawHistogram() {
    const model = models[state.model], c = model.curve, n = model.counts;
    const scores = c.threshold.filter((v) => v !== null);
    const low = Math.min(...scores), high = Math.max(...scores), bins = 40, width = (high - low) / bins || 1;
    const labelled = new Array(bins).fill(0), unlabeled = new Array(bins).fill(0);
    c.threshold.forEach((t, i) => {
      const b = t === null ? 0 : Math.min(bins - 1, Math.max(0, Math.floor((t - low) / width)));
      labelled[b] += (c.positive[i] - (i ? c.positive[i - 1] : 0)) / n.labelled_positive;
      unlabeled[b] += (c.unlabeled[i] - (i ? c.unlabeled[i - 1] : 0)) / n.unlabeled;
    });
    const negative = unlabeled.map((u, b) => (state.purity * u - state.share * labelled[b]) / (state.purity - state.share));
    const root = (v) => Math.sqrt(Math.max(0, v));
    const top = Math.max(...unlabeled.map(root), ...labelled.map(root), 1e-9) * 1.05;
    const f = frame("histogram", "score", "√ share of rows", [low, high > low ? high : low + 1], [0, top]);
    const edges = [...unlabeled.keys()].flatMap((b) => [low + b * width, low + (b + 1) * width]);
    const steps = (v) => v.flatMap((u) => [root(u), root(u)]);
    band(f, edges, edges.map(() => 0), steps(unlabeled), "fill-unlabeled");
    path(f, edges, steps(negative), "line-negative"); path(f, edges, steps(labelled), "line-labelled");
    const i = indexOf(model), t = c.threshold[i - 1];
    if (t !== null) element("line", { x1: f.x(t), x2: f.x(t), y1: f.y(0), y2: f.y(top), class: "cut" }, f.plot);
  }
  function drawSweep() {
    const metric = $("sweep-metric").value, model = models[state.model];
    const top = Math.min(1, Math.max(largestShare(model, state.purity) * 1.15, state.share * 1.1, 0.01));
    const f = frame("sweep", "share of positives among the unlabeled rows", title(metric), [0, top], [0, 1]);
    const grid = Array.from({ length: 81 }, (_, k) => k / 80 * Math.min(top, state.purity - 1e-3));
    const limit = largestShare(model, state.purity);
    element("rect", { x: f.x(limit), y: f.y(1), width: Math.max(0, f.x(top) - f.x(limit)), height: f.y(0) - f.y(1), class: "ruled-out" }, f.plot);
    const value = (m, share) => {
      const curve = recover(m, share, state.purity), i = indexOf(m);
      return AREAS.includes(metric) ? areas(curve)[metric] : metricsOf(curve.tpr[i], curve.fpr[i], curve.prevalence)[metric];
    };
    for (const [m, k] of visible()) {
      const feasible = grid.filter((s) => s <= largestShare(m, state.purity));
      path(f, feasible, feasible.map((s) => value(m, s)), `line m${k}`);
      marker(f, state.share, value(m, state.share), k);
    }
    for (const share of Object.values(model.hidden_share.estimates)) {
      element("line", { x1: f.x(share), x2: f.x(share), y1: f.y(0), y2: f.y(0) - 8, class: "tick" }, f.plot);
    }
    element("line", { x1: f.x(state.share), x2: f.x(state.share), y1: f.y(0), y2: f.y(1), class: "cut" }, f.plot);
    hover(f, (v) => `${title(metric)} ${number(value(model, v))} at ${percent(v)} hidden`);
  }
  function drawCalibration() {
    const model = models[state.model], c = model.curve, n = model.counts;
    const scores = c.threshold.filter((v) => v !== null);
    const probability = Math.min(...scores) >= 0 && Math.max(...scores) <= 1;
    $("calibration-part").hidden = !probability;
    if (!probability) return;
    const f = frame("calibration", "score", "share that is positive", [0, 1], [0, 1]);
    element("line", { x1: f.x(0), y1: f.y(0), x2: f.x(1), y2: f.y(1), class: "chance" }, f.plot);
    const sums = Array.from({ length: 10 }, () => [0, 0, 0, 0]);
    c.threshold.forEach((t, i) => {
      const s = sums[Math.min(9, Math.max(0, Math.floor((t || 0) * 10)))];
      const p = c.positive[i] - (i ? c.positive[i - 1] : 0), u = c.unlabeled[i] - (i ? c.unlabeled[i - 1] : 0);
      const all = p + u + c.negative[i] - (i ? c.negative[i - 1] : 0);
      s[0] += p; s[1] += u; s[2] += all; s[3] += all * (t || 0);
    });
    const single = model.sampling === "single-sample";
    const curve = recover(model, state.share, state.purity);
    const xs = [], ys = [];
    for (const [p, u, all, weighted] of sums) {
      if (all <= 0) continue;
      xs.push(weighted / all);
      ys.push(Math.min(1, single ? p / all * curve.positives / n.labelled_positive : state.share * (p / n.labelled_positive) / (u / n.unlabeled)));
    }
    path(f, xs, ys, `line m${state.model}`);
    xs.forEach((x, j) => marker(f, x, ys[j], state.model));
  }

  // ---- everything that follows from the state ----
  function update() {
    const model = models[state.model], rows = rowsOf(model), i = indexOf(model);
    const limit = largestShare(model, state.purity), infeasible = state.share > limit + 1e-12;
    const cut = model.curve.threshold[i - 1];
    $("share").value = state.share; $("purity").value = state.purity;
    $("gamma").value = Math.log(state.gamma); $("threshold").value = state.place;
    const said = { share: percent(state.share), purity: percent(state.purity), gamma: state.gamma.toFixed(2), threshold: cut === null ? "∞" : String(+cut.toPrecision(4)) };
    for (const [name, text] of Object.entries(said)) { $(name + "-value").textContent = text; $(name).setAttribute("aria-valuetext", text); }
    $("share").style.setProperty("--limit", `${100 * Math.min(1, limit / Number($("share").max))}%`);
    $("infeasible").hidden = !infeasible;
    $("infeasible").textContent = infeasible ? `${percent(state.share)} is more than the scores allow: at most ${percent(limit)}. The numbers below mean nothing there.` : "";
    document.body.classList.toggle("ruled", infeasible);
    const body = $("numbers");
    rows.forEach((row, k) => {
      const cells = body.rows[k].cells;
      cells[0].textContent = POINT.includes(row.name) ? `${title(row.name)}@${said.threshold}` : title(row.name);
      cells[1].textContent = number(row.naive);
      cells[2].textContent = number(row.value);
      cells[3].textContent = Number.isFinite(row.low) ? `${number(row.low)} – ${number(row.high)}` : "–";
      cells[4].textContent = row.needs;
    });
    verdict(model, rows, infeasible);
    change(model, i);
    drawCurves(); drawHistogram(); drawSweep(); drawCalibration();
    toHash();
  }
  function verdict(model, rows, infeasible) {
    const lead = rows.find((row) => row.name === (model.threshold === null ? "roc_auc" : "precision"));
    const relative = (lead.high - lead.low) / lead.value;
    const bad = model.checks.some((c) => c.level === "fail");
    const shaky = model.checks.some((c) => c.level === "warn" && (c.code === "UC002" || c.code === "UC011"));
    const light = unmoved() ? model.words.light : infeasible || bad ? "not supported" : relative <= 0.1 && !shaky ? "robust" : "depends on the prevalence";
    $("light").textContent = light;
    $("light").className = "light " + light.split(" ")[0];
    $("lead").textContent = `${title(lead.name)} ${number(lead.value)}`;
    $("lead-range").textContent = Number.isFinite(lead.low) ? `${number(lead.low)} – ${number(lead.high)}` : "";
    $("moved").hidden = unmoved();
  }
  function change(model, i) {
    const metric = $("goal-metric").value, value = Number($("goal-value").value);
    const share = breakEven(model, metric, value, i, state), bias = breakBias(model, metric, value, i, state);
    const parts = [];
    parts.push(Number.isNaN(share) ? "no prevalence that the scores allow is enough" : share === 0 ? "it holds whatever the prevalence" : `it holds from ${percent(share)} hidden positives on`);
    parts.push(Number.isNaN(bias) ? "at the prevalence set above it does not hold" : bias === Infinity ? "no labelling bias below Γ = 1000 breaks it" : `at the prevalence set above it survives a labelling bias up to Γ = ${bias.toFixed(2)}`);
    $("goal-answer").textContent = parts.join("; ") + ".";
  }
  function markdown() {
    const model = models[state.model];
    const lines = [`${model.name}: hidden positives ${percent(state.share)}, purity ${percent(state.purity)}, Γ ${state.gamma.toFixed(2)}`, "",
      "| metric | unlabeled = negative | true value | interval | needs |", "|---|---:|---:|---:|---|"];
    for (const row of $("numbers").rows) lines.push("| " + [...row.cells].map((cell) => cell.textContent).join(" | ") + " |");
    return lines.join("\n") + "\n";
  }
  window.undercount.markdown = markdown;
  window.undercount.state = state;

  let waiting = false;
  function soon() { // one redraw a frame, however fast the slider moves
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; update(); });
  }
  window.undercount.update = update;
  function bind(id, set) { $(id).addEventListener("input", (event) => { set(Number(event.target.value)); soon(); }); }
  const top = Math.min(1, Math.max(...models.map((m) => Math.max(largestShare(m, 1), m.hidden_share.high) * 1.25), 0.02));
  $("share").max = top; $("share").step = "any";
  $("gamma").max = Math.log(5); $("purity").min = 0.5;
  bind("share", (v) => { state.share = Math.min(v, state.purity - 1e-3); });
  bind("purity", (v) => { state.purity = Math.max(v, state.share + 1e-3); });
  bind("gamma", (v) => { state.gamma = Math.exp(v); });
  bind("threshold", (v) => { state.place = v; });
  for (const id of ["sweep-metric", "goal-metric", "goal-value"]) $(id).addEventListener("input", soon);
  $("reset").addEventListener("click", () => { Object.assign(state, first, { model: state.model }); soon(); });
  $("copy").addEventListener("click", () => {
    const done = () => { $("copied").textContent = "copied"; };
    const area = $("copy-area");
    if (navigator.clipboard) navigator.clipboard.writeText(markdown()).then(done, () => { area.hidden = false; area.value = markdown(); area.select(); });
    else { area.hidden = false; area.value = markdown(); area.select(); }
  });
  $("download").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(data, null, 1)], { type: "application/json" }));
    link.download = "evaluation.json";
    link.click();
  });
  models.forEach((_, k) => {
    const box = $(`show-${k}`), pick = $(`pick-${k}`);
    if (box) box.addEventListener("input", () => { shown[k] = box.checked; soon(); });
    if (pick) pick.addEventListener("input", () => { state.model = k; soon(); });
    if (pick && k === state.model) pick.checked = true;
  });
  window.addEventListener("hashchange", () => { Object.assign(state, fromHash()); soon(); });
  const ticks = $("share-ticks");
  for (const value of Object.values(models[0].hidden_share.estimates)) {
    const option = document.createElement("option");
    option.value = value;
    ticks.append(option);
  }
  document.body.classList.add("live");
  update();
})();
