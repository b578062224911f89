// ---- labelling bias: the odds of being labelled differ between two positives at most by a factor ----
// Only hidden positives can differ: their odds of being flagged are those of the labelled ones, divided by the factor.
const hiddenRate = (rate, ratio) => rate / (rate + ratio * (1 - rate));
// Lower limit of the rate among labelled positives that were preferred: a score interval, Wilson's if the ratio is 1.
function leastRate(rate, trials, labelled, ratio, z) {
  if (!Number.isFinite(trials)) return rate;
  let low = 0, high = rate;
  for (let k = 0; k < 60; k++) {
    const r = (low + high) / 2, size = trials * (1 - labelled + labelled * (r + ratio * (1 - r)) ** 2 / ratio);
    if (size * (rate - r) ** 2 <= z * z * r * (1 - r)) high = r; else low = r;
  }
  return high;
}
// Of the target's positives: those among the unlabeled rows, and the share that is labelled (0 if these were drawn apart).
const hiddenPositives = ({ model, x }) => Math.max(x.n - (model.single ? model.sizes[0] : 0), 0);
const labelledShare = (model, x, purity) => model.single ? clip(purity * model.sizes[0] / Math.max(x.n, 1e-300)) : 0;
// The function from a bias to the ends of a metric, with the chance of the labels, the share as it is.
function biasEnds(model, name, i, share, purity) {
  const d = { ...designs(model, share, purity)[0], errors: [0, 0] }, isArea = AREAS.includes(name);
  if (isArea && (name === "average_precision" || !d.pure)) return () => [NaN, NaN];
  const plain = isArea ? areaEstimate(d, name) : pointEstimate(d, i, name);
  if (Number.isNaN(plain.value)) return () => [NaN, NaN];
  const ends = isArea ? areaBias(d, name, plain) : pointBias(d, i, name), least = (a, b) => Number.isNaN(b) ? a : Math.min(a, b);
  return (ratio) => {
    if (ratio === 1) return [plain.low, plain.high];
    const found = ends(ratio);
    return [least(plain.low, Math.min(...found)), -least(-plain.high, -Math.max(...found))];
  };
}
function pointBias(d, i, name) {
  const { model } = d, read = (point) => METRICS[name](...point);
  const hull = (of) => (ratio) => {
    const [low, high] = [ratio, 1 / ratio].map((r) => of(r)).map(({ base, pairs }) => combined(base, pairs, name));
    return [Math.min(low[0], high[0]), Math.max(low[1], high[1])];
  };
  if (!d.pure) return (ratio) => impureBias(d, i, ratio).map(read);
  if (!model.dataset) return hull((ratio) => populationBias(d, i, ratio));
  if (d.given === "label_frequency" && name !== "recall") {
    const ends = hull((ratio) => sideBias(d, i, ratio));
    return (ratio) => ends(ratio).map((end) => clip(end, ...possible(d, i, name)));
  }
  return (ratio) => tableBias(d, i, ratio).map(read);
}
function tableBias(d, i, ratio) { // the fewest and the most true positives of these rows
  const { model, x } = d, n = model.sizes[0], hidden = hiddenPositives(d), pool = n + hidden, rate = model.rates[0][i];
  const trials = d.given === "label_frequency" ? model.effective[0] / Math.max(1 - d.value, 1e-300)
    : !model.units.every((u) => u === 1) ? model.effective[0] / Math.max(1 - n / pool, 1e-300)
    : hidden > 0 ? n * Math.max(pool - 1, 0) / hidden : Infinity;
  const hits = (rate) => { const r = leastRate(rate, trials, n / pool, ratio, model.z); return n * r + hidden * hiddenRate(r, ratio); };
  const taken = model.single ? 0 : model.heads[0][i];
  return [hits(rate), pool - hits(1 - rate)].map((end) => tablePoint(model, i, end - taken, x.n));
}
function biasedPoint(labelled, x, rates, ratio) {
  const c = clip(labelled / Math.max(x.n, 1e-300)), t = c * rates[0] + (1 - c) * hiddenRate(rates[0], ratio), flagged = dot(x.everyone, rates);
  return [t, (flagged - x.prevalence * t) / (1 - x.prevalence), x.prevalence];
}
const populationBias = (d, i, ratio) => ofPopulation(d, ratesAt(d.model, i), (x, rates, sizes = d.model.sizes) => biasedPoint(d.model.single ? sizes[0] : 0, x, rates, ratio));
function sideBias(d, i, ratio) { // label frequency known: the chance of a label is another one on either side
  const rate = d.model.rates[0][i], odds = d.value / Math.max(1 - d.value, 1e-300) * (rate + ratio * (1 - rate));
  return byPrediction(d, i, [odds / (1 + odds), odds / (ratio + odds)]);
}
function impureBias(d, i, ratio) { // wrong labels are taken to be as without bias
  const { model, x } = d, [t, f, p] = ratesOf(x, ratesAt(model, i)), flagged = p * t + (1 - p) * f, c = labelledShare(model, x, d.purity);
  const limits = combined([t, f, p], sources(d, i, "recall").pairs, "recall");
  return limits.map((limit, k) => {
    const rate = clip(limit);
    let tpr = c * rate + (1 - c) * hiddenRate(rate, k ? 1 / ratio : ratio);
    if (p > 0) tpr = Math.max(Math.min(tpr, flagged / p), (flagged - 1 + p) / p); // no more positives flagged than rows
    return [tpr, (flagged - p * tpr) / (1 - p), p];
  });
}
// Share of the target's rows below each cell, ties one half.
function positions(d) {
  const { masses } = d.model, w = d.x.everyone;
  let head = 0;
  return masses[0].map((_, i) => { const mass = w[0] * masses[0][i] + w[1] * masses[1][i] + w[2] * masses[2][i]; head += mass; return 1 - (head - mass / 2); });
}
function areaBias(d, name, plain) { // of the mean position of the hidden positives
  const { model, x } = d, mass = model.masses[0], position = positions(d), mean = mass.reduce((s, v, i) => s + v * position[i], 0);
  const c = labelledShare(model, x, 1), p = x.prevalence, m = model.m;
  const area = (hidden) => { const lift = c * mean + (1 - c) * hidden; return name === "lift_auc" ? lift : (lift - p / 2) / (1 - p); };
  const even = positionReach(d, position, c, mass.map(() => 1), mean), room = model.dataset ? hiddenRoom(d, position).map(area) : [0, 1];
  return (ratio) => [-1, 1].map((sign, k) => { // all above some cell weigh more than the others, or all below
    let head = 0, moved = 0, best = -Infinity, place = 0;
    for (let j = 0; j < m; j++) {
      const i = sign > 0 ? j : m - 1 - j;
      head += mass[i]; moved += mass[i] * position[i];
      const found = sign * (mean + (ratio - 1) * moved) / (1 + (ratio - 1) * head);
      if (found > best) { best = found; place = i; }
    }
    const heavy = (i) => sign > 0 ? i <= place : i >= place, total = mass.reduce((s, v, i) => s + v * (heavy(i) ? ratio : 1), 0);
    const weight = mass.map((_, i) => (heavy(i) ? ratio : 1) / total), far = (k ? plain.high : plain.low) - plain.value;
    const end = area(sign * best) + far * positionReach(d, position, c, weight, sign * best)[k] / (even[k] || 1);
    return clip(clip(end, ...room));
  });
}
// How far an interval of the mean position reaches down and up, up to a factor that the bias does not change: weights are
// held fast (envelope theorem), and few heavy rows make it skew.
function positionReach(d, position, c, weight, mean) {
  const [variance, third] = positionMoments(d, position, c, weight, mean);
  if (!(variance > 0)) return [0, 0];
  const [low, high] = skewedEnds(0, Math.sqrt(variance), third, d.model.t);
  return [-low, high];
}
function positionMoments(d, position, c, weight, mean) {
  const { model } = d, mass = model.masses[0], n = model.effective[0];
  if (!model.dataset) {
    let head = 0;
    const positive = position.map((v, i) => c * v + (1 - c) * (mean + weight[i] * (v - mean)));
    const after = mass.map((v, i) => { const part = v * (c + (1 - c) * weight[i]); head += part; return head - part / 2; });
    const moves = spread(d, { parts: [positive, new Float64Array(model.m), after], slope: 0 });
    return [moves.variance, thirdMoments(d, moves)];
  }
  // The hidden positives vary as well, around the same mean.
  const other = model.sizes[0] / (hiddenPositives(d) || Infinity), unbias = 1 / ((n - 1) * (n - 2));
  const sum = (power, heavy) => mass.reduce((s, v, i) => s + v * weight[i] ** heavy * (position[i] - mean) ** power, 0);
  const third = n > 2 ? [(sum(3, 3) - other ** 2 * sum(3, 1)) * unbias, (sum(3, 3) + other * sum(3, 2)) * unbias] : [0, 0];
  return [(sum(2, 2) + other * sum(2, 1)) / n, third];
}
function hiddenRoom(d, position) { // mean positions of the last and of the first unlabeled rows, as many as are hidden
  const { model } = d, rows = model.curve.unlabeled, hidden = hiddenPositives(d);
  return [-1, 1].map((sign) => {
    let left = hidden, sum = 0;
    for (let j = 0; j < model.m; j++) {
      const i = sign > 0 ? j : model.m - 1 - j, taken = Math.min(left, rows[i]);
      left -= taken; sum += taken * position[i];
    }
    return sum / (hidden - left || 1);
  });
}
