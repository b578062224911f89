// The library's arithmetic on a few hundred cells a model: nothing here knows the page.
// Kinds of rows, everywhere in this order: labelled positive, unlabeled, labelled negative.
// FACTS stands before this script, made of the library's table: of each metric its title, whether it is an area, its
// least value, whether it needs the prevalence, and in which samplings it grows with the hidden share.
const AREAS = Object.keys(FACTS).filter((name) => FACTS[name].area), POINT = Object.keys(FACTS).filter((name) => !FACTS[name].area);
const KINDS = [0, 1, 2];
const clip = (x, low = 0, high = 1) => Math.min(high, Math.max(low, x));
const METRICS = { // of true-positive rate, false-positive rate, prevalence
  recall: (t) => t,
  precision: (t, f, p) => p * t / (p * t + (1 - p) * f),
  f1: (t, f, p) => 2 * p * t / (p + p * t + (1 - p) * f),
  specificity: (t, f) => 1 - f,
  accuracy: (t, f, p) => p * t + (1 - p) * (1 - f),
  mcc: (t, f, p) => {
    const flagged = p * t + (1 - p) * f;
    return Math.sqrt(p * (1 - p)) * (t - f) / Math.sqrt(flagged * (1 - flagged));
  },
};

// A model with its heads (rows above each border), rates and cell masses as typed arrays.
function prepare(model, live) {
  if (!model.curve.negative.length) model.curve.negative = model.curve.positive.map(() => 0);
  const cells = [model.curve.positive, model.curve.unlabeled, model.curve.negative], m = cells[0].length;
  const heads = cells.map((cell) => {
    const head = new Float64Array(m + 1);
    cell.forEach((v, i) => { head[i + 1] = head[i] + v; });
    return head;
  });
  const sizes = heads.map((head) => head[m]);
  const share = (values, k) => Float64Array.from(values, (v) => sizes[k] > 0 ? v / sizes[k] : 0);
  const effective = sizes.map((v, k) => v / live.units[k]);
  return { ...model, ...live, hidden_share: { ...model.hidden_share, value: live.share }, m, heads, sizes, total: sizes[0] + sizes[1] + sizes[2], effective,
    rates: heads.map(share), masses: cells.map(share), single: model.sampling === "single-sample",
    dataset: model.target === "dataset" };
}
// Weights that make positives, negatives and everyone of the three kinds (Jain et al. 2017, eqs 1-2).
function mix(sizes, given, value, purity, single) {
  const total = sizes[0] + sizes[1] + sizes[2];
  let a = value, known = 0, prevalence = value, n = value * sizes[1], everyone = [0, 1, 0];
  if (single) {
    if (given === "prevalence") a = (value * total - purity * sizes[0]) / sizes[1];
    if (given === "positives") a = (value - purity * sizes[0]) / sizes[1];
    if (given === "label_frequency") a = purity * sizes[0] * (1 / value - 1) / sizes[1];
    n = purity * sizes[0] + a * sizes[1];
    prevalence = n / total;
    known = sizes[2] / (total - n); // known negatives join those recovered
    everyone = sizes.map((v) => v / total);
  }
  const gap = purity - a;
  return { positive: [(1 - a) / gap, (purity - 1) / gap, 0],
    negative: [(known - 1) * a / gap, (1 - known) * purity / gap, known], everyone, a, prevalence, n };
}
const dot = (w, r) => w[0] * r[0] + w[1] * r[1] + w[2] * r[2];
const ratesOf = (x, r) => [dot(x.positive, r), dot(x.negative, r), x.prevalence];
const ratesAt = (model, i) => model.rates.map((r) => r[i]);

function recover(model, share, purity) {
  const x = mix(model.sizes, "", share, purity, model.single), [g, q, n] = model.rates, [a, b] = x.positive, [c, d, e] = x.negative;
  const tpr = new Float64Array(g.length), fpr = new Float64Array(g.length), flagged = new Float64Array(g.length);
  for (let i = 0; i < g.length; i++) {
    tpr[i] = a * g[i] + b * q[i];
    fpr[i] = c * g[i] + d * q[i] + e * n[i];
    flagged[i] = x.prevalence * tpr[i] + (1 - x.prevalence) * fpr[i];
  }
  return { tpr, fpr, flagged, prevalence: x.prevalence, positives: x.n };
}
function naiveCurve(model) {
  const { heads: [p, u, n], sizes, total } = model, prevalence = sizes[0] / total;
  return { tpr: p.map((v) => v / sizes[0]), fpr: p.map((_, i) => (u[i] + n[i]) / (sizes[1] + sizes[2])),
    flagged: p.map((v, i) => (v + u[i] + n[i]) / total), prevalence };
}
function trapezoid(y, x) {
  let sum = 0;
  for (let i = 1; i < x.length; i++) sum += (x[i] - x[i - 1]) * (y[i] + y[i - 1]);
  return sum / 2;
}
function area(curve, name) {
  if (name === "roc_auc") return trapezoid(curve.tpr, curve.fpr);
  if (name === "lift_auc") return trapezoid(curve.tpr, curve.flagged);
  let sum = 0;
  for (let i = 1; i < curve.tpr.length; i++) {
    const gained = curve.tpr[i] - curve.tpr[i - 1], hits = curve.prevalence * curve.tpr[i], flagged = curve.flagged[i];
    // Positives above every row of the target: nothing is flagged, and precision is 1.
    if (gained !== 0) sum += gained * (flagged > 1e-12 * Math.abs(hits) ? hits / flagged : hits > 0 ? 1 : 0);
  }
  return sum;
}
// A metric of the recovered curve, without interval; may leave its range where the shares do not fit.
function valueAt(model, name, i, share, purity, capped) {
  if (AREAS.includes(name)) return area(recover(model, share, purity), name);
  const [tpr, fpr, prevalence] = ratesOf(mix(model.sizes, "", share, purity, model.single), ratesAt(model, i));
  return capped ? METRICS[name](clip(tpr), clip(fpr), prevalence) : METRICS[name](tpr, fpr, prevalence);
}

// ---- what the data allow ----
function largestAt(model, i, purity) { // no rate at this threshold outside [0, 1]
  const [g, q] = ratesAt(model, i), over = (top, bottom) => bottom > 0 ? top / bottom : Infinity;
  return Math.max(0, Math.min(purity * over(q, g), purity * over(1 - q, 1 - g), 1 - over((1 - purity) * q, g > 0 ? g : 1),
    over(purity - g + (1 - purity) * q, 1 - g)));
}

// ---- where a conclusion "metric >= value" stops to hold ----
function root(holds, low, high) {
  for (let k = 0; k < 60; k++) { const middle = (low + high) / 2; if (holds(middle)) high = middle; else low = middle; }
  return high;
}
// The largest labelling bias at which the lower end of a metric, with the chance of the labels, is enough.
function largestBias(model, name, value, i, share, purity) {
  const ends = biasEnds(model, name, i, share, purity), top = Math.log(1000), fails = (log) => !(ends(Math.exp(log))[0] >= value);
  if (fails(0)) return NaN;
  return fails(top) ? Math.exp(root(fails, 0, top)) : Infinity;
}
