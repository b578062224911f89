// ---- areas: variances from what one row of each kind adds ----
function moments(masses, value, w) {
  let mean = 0, square = 0;
  for (let i = 0; i < value.length; i++) {
    const v = value[i], mass = w[0] * masses[0][i] + w[1] * masses[1][i] + w[2] * masses[2][i];
    mean += mass * v; square += mass * v * v;
  }
  return [mean, Math.max(square - mean * mean, 0)];
}
function meanVariance(d, value, k) { // of a mean over the rows of one kind, around their own mean
  const size = d.model.effective[k], more = k === 0 ? inflation(d, value) : 1;
  return size > 1 ? more * moments(d.model.masses, value, UNIT[k])[1] / (size - 1) : size > 0 ? NaN : 0;
}
// Weight of a row in each cell: the whole cell up to a common largest weight, so that squares add up.
function rowWeights(cells, squares) {
  const rising = [...cells].filter((c) => c > 0).sort((a, b) => a - b), total = rising.reduce((s, c) => s + c, 0);
  if (!(total > 0) || squares >= rising.reduce((s, c) => s + c * c, 0) * (1 - 1e-9)) return cells;
  if (squares <= total * rising[0] * (1 + 1e-9)) return cells.map((c) => c > 0 ? squares / total : 0);
  let within = 0, above = total;
  for (const c of rising) {
    if (within + c * c + c * (above - c) >= squares) break;
    within += c * c; above -= c;
  }
  return cells.map((c) => Math.min(c, (squares - within) / above));
}
// How surely weights go with the score: 1 less log weights' mean square within blocks over that between.
function weightLink(own) {
  const n = own.length, blocks = Math.max(Math.round(Math.sqrt(n)), 2), logs = own.map(Math.log);
  if (logs.reduce((s, v) => Math.max(s, v), -Infinity) - logs.reduce((s, v) => Math.min(s, v), Infinity) <= 1e-9) return 0;
  if (n <= blocks) return 1;
  const mean = logs.reduce((s, v) => s + v, 0) / n, at = (i) => Math.floor(i * blocks / n);
  const number = new Float64Array(blocks), sums = new Float64Array(blocks);
  logs.forEach((v, i) => { number[at(i)]++; sums[at(i)] += v; });
  const between = number.reduce((s, m, b) => s + m * (sums[b] / m - mean) ** 2, 0) / (blocks - 1);
  const within = logs.reduce((s, v, i) => s + (v - sums[at(i)] / number[at(i)]) ** 2, 0) / (n - blocks);
  return between > 0 ? Math.max(1 - within / between, 0) : 0;
}
// Relative weights of labelled rows, drawn towards 1 unless they go with the score; null if all are equal.
function labelWeights(model) {
  if (model.labels !== undefined) return model.labels;
  const mass = model.masses[0], total = model.sizes[0], own = rowWeights(mass.map((m) => m * total), total * model.units[0]);
  const mean = mass.reduce((s, m, i) => s + m * own[i], 0), kept = [...own].filter((_, i) => mass[i] > 0);
  if (!(mean > 0) || kept.every((w) => Math.abs(w - mean) <= 1e-9 * mean)) return (model.labels = null);
  const link = weightLink(kept);
  return (model.labels = { link, relative: own.map((w) => 1 + link * (w / mean - 1)), size: total / mean });
}
// Mean over labelled rows of a power of the distance from the mean times a power of the relative weight.
function weightedMoment(d, value, power, heavy) {
  const mass = d.model.masses[0], mean = moments(d.model.masses, value, UNIT[0])[0], { relative } = labelWeights(d.model);
  return mass.reduce((s, m, i) => s + m * relative[i] ** heavy * (value[i] - mean) ** power, 0);
}
const lean = (d, value) => labelWeights(d.model) ? weightedMoment(d, value, 1, 1) : 0;
function inflation(d, value) { // variance of a mean over labelled rows over that at Kish's size
  const w = labelWeights(d.model);
  if (!w) return 1;
  const mass = d.model.masses[0], mean = moments(d.model.masses, value, UNIT[0])[0];
  let plain = 0, heavy = 0;
  mass.forEach((m, i) => {
    const square = m * (value[i] - mean) ** 2, r = w.relative[i];
    plain += square; heavy += r * square / (1 - (2 * r - 1) / w.size);
  });
  return plain > 0 && w.size > 1 ? heavy * (1 - 1 / w.size) / plain : 1;
}
const UNIT = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
function influence(d, name) { // derivatives towards one more positive, negative, row of any class
  const { model, x } = d, m = model.m, zero = new Float64Array(m), sum = (values, f) => values.reduce((s, v, i) => s + v * f[i], 0);
  const mass = (w) => zero.map((_, i) => w[0] * model.masses[0][i] + w[1] * model.masses[1][i] + w[2] * model.masses[2][i]);
  const heads = (values) => { let s = 0; return values.map((v) => (s += v)); };
  const middle = (values) => heads(values).map((s, i) => s - values[i] / 2);
  const p = mass(x.positive), other = mass(name === "roc_auc" ? x.negative : x.everyone);
  if (name !== "average_precision") {
    const below = middle(other).map((s) => 1 - s), value = sum(p, below), after = middle(p);
    return name === "roc_auc" ? { value, parts: [below, after, zero], slope: 0 } : { value, parts: [below, zero, after], slope: 0 };
  }
  const tpr = heads(p), inverse = heads(other).map((q) => q > 0 ? 1 / q : 0), precision = tpr.map((t, i) => inverse[i] > 0 ? x.prevalence * t * inverse[i] : +(t > 0));
  const lower = (values) => heads(values.reverse()).reverse(), value = sum(p, precision);
  const recall = lower(inverse.map((v, i) => x.prevalence * v * p[i])), flagged = lower(precision.map((v, i) => v * inverse[i] * p[i]));
  return { value, parts: [precision.map((v, i) => v + recall[i]), zero, flagged.map((v) => -v)], slope: x.prevalence > 0 ? value / x.prevalence : 0 };
}
function spread(d, f) {
  const { model, x } = d, { sizes, masses } = model;
  const phi = KINDS.map((k) => f.parts[0].map((v, i) => x.positive[k] * v + x.negative[k] * f.parts[1][i] + x.everyone[k] * f.parts[2][i]));
  const means = f.parts.map((part) => KINDS.map((k) => moments(masses, part, UNIT[k])[0]));
  const read = (y) => dot(y.positive, means[0]) + dot(y.negative, means[1]) + dot(y.everyone, means[2]) + y.prevalence * f.slope;
  const slope = (at, v, h) => (read(at(v - 2 * h)) - 8 * read(at(v - h)) + 8 * read(at(v + h)) - read(at(v + 2 * h))) / (12 * h);
  const bySize = (k) => sizes[k] > 0 ? slope((v) => remix(d, sizes.map((s, j) => j === k ? v : s)), sizes[k], sizes[k] / 1000) : 0;
  const step = (d.purity - x.a) / 1e4;
  const byShare = d.errors[0] > 0 ? slope((a) => mix(sizes, "", a, d.purity, model.single), x.a, step) : 0;
  const byPurity = d.errors[1] > 0 ? slope((v) => remix(d, sizes, v), d.purity, step) : 0;
  const variance = !model.dataset ? population(d, phi, bySize, f.slope) : model.single ? labelling(d, phi, bySize) : unlabeledRows(d, phi[0]);
  // What a label at each score adds: its range and its mean among the labelled rows.
  const label = model.dataset && model.single ? labelMoves(d, phi) : phi[0], least = label.reduce((s, v) => Math.min(s, v)), most = label.reduce((s, v) => Math.max(s, v));
  return { variance, phi, bySize, shares: (byShare * d.errors[0]) ** 2 + (byPurity * d.errors[1]) ** 2, label: [least, moments(masses, label, UNIT[0])[0], most] };
}
const labelMoves = (d, phi) => phi[0].map((v, i) => v - d.model.sizes[0] / d.model.sizes[1] * phi[1][i]);
const unlabelledShares = ({ model, x, purity }) => [clip(1 - purity * model.sizes[0] / x.n), clip(1 - (1 - purity) * model.sizes[0] / Math.max(model.total - x.n, 1e-300))];
function population(d, phi, bySize, prevalenceSlope) {
  const { model, x } = d, { sizes, units, masses, effective, total: n } = model, heavier = dot(sizes, units) / n;
  const sum = KINDS.reduce((s, k) => s + meanVariance(d, phi[k], k), 0);
  if (!model.single) return sum;
  if (d.given === "positives") {
    const gap = moments(masses, phi[1], x.positive)[0] - moments(masses, phi[1], x.negative)[0];
    return Math.max(sum - x.a * (1 - x.a) * gap ** 2 / effective[1] + prevalenceSlope ** 2 * x.prevalence * (1 - x.prevalence) * heavier / n, 0);
  }
  const slopes = KINDS.map(bySize), squares = KINDS.reduce((s, k) => s + sizes[k] * units[k] * slopes[k] ** 2, 0);
  return Math.max(sum + 2 * units[0] * slopes[0] * lean(d, phi[0]), 0) + Math.max(squares - heavier * dot(sizes, slopes) ** 2 / n, 0);
}
// What one label more adds on average, if each positive was labelled by itself.
const numberSlope = ({ model: { sizes, masses } }, phi, mean, bySize) => (mean - moments(masses, phi[0], UNIT[0])[0] + sizes[0] / sizes[1] * moments(masses, phi[1], UNIT[1])[0]) / sizes[0] + bySize(0) - bySize(1);
function labelling(d, phi, bySize) { // only which positives carry a label is random
  const { model, x, purity } = d, { sizes, masses, effective } = model;
  const label = labelMoves(d, phi), [mean, variance] = moments(masses, label, UNIT[0]), [kept, others] = unlabelledShares(d);
  if (d.given === "label_frequency") {
    const m = numberSlope(d, phi, mean, bySize);
    return (purity * kept + (1 - purity) * others) * sizes[0] * model.units[0] * Math.max(inflation(d, label) * variance / sizes[0] ** 2 + 2 * m * lean(d, label) / sizes[0] + m ** 2, 0);
  }
  if (d.pure) return kept * meanVariance(d, label, 0);
  return inflation(d, label) * (purity * kept * moments(masses, label, x.positive)[1] + (1 - purity) * others * moments(masses, label, x.negative)[1]) / effective[0];
}
function thirdMoments(d, { phi, bySize }) { // of the error, and of the error with its variance
  const { model, x, purity } = d, { masses, effective: n } = model, weighted = labelWeights(model);
  const third = (value, k) => {
    const mean = moments(masses, value, UNIT[k])[0];
    const cubes = k === 0 && weighted ? weightedMoment(d, value, 3, 2) : moments(masses, value.map((v) => (v - mean) ** 3), UNIT[k])[0];
    return cubes * n[k] ** 2 / ((n[k] - 1) * (n[k] - 2));
  };
  if (!model.dataset) return new Array(2).fill(KINDS.reduce((s, k) => s + (n[k] > 2 ? third(phi[k], k) / n[k] ** 2 : 0), 0));
  if (n[0] <= 2) return [0, 0];
  if (!model.single) {
    const hidden = x.a * n[1], other = hidden > 0 ? 1 / hidden : 0, of = third(phi[0], 0);
    return [of * (n[0] ** -2 - other ** 2), of * (1 / n[0] + other) / n[0]];
  }
  const label = labelMoves(d, phi), [mean, variance] = moments(masses, label, UNIT[0]), [kept, others] = unlabelledShares(d);
  const free = purity * kept + (1 - purity) * others, shift = d.given === "label_frequency" ? model.sizes[0] * numberSlope(d, phi, mean, bySize) : 0;
  const at = weighted ? [0, 1, 2].map((power) => weightedMoment(d, label, power, 2)) : [1, 0, variance];
  const of = (third(label, 0) + (shift ? 3 * shift * at[2] + 3 * shift ** 2 * at[1] + shift ** 3 * at[0] : 0)) / n[0] ** 2;
  return [of * free * (2 * free - 1), of * free ** 2];
}
function skewedEnds(value, error, [first, second], t) { // Hall's cubic
  const bend = (second / 2 - first / 6) / error ** 3, shift = first / 6 / error ** 3;
  return [t, -t].map((q) => value - error * (Math.abs(bend) > 1e-8 ? (Math.cbrt(1 + 3 * bend * (q - shift)) - 1) / bend : q - shift));
}
function unlabeledRows(d, value) { // labelled rows stand for the positives among these unlabeled rows
  const { model, x, purity } = d, { masses, effective } = model, hidden = effective[1] * x.a;
  const among = moments(masses, value, x.positive)[1], rest = moments(masses, value, x.negative)[1];
  return meanVariance(d, value, 0) + inflation(d, value) * ((hidden > 0 ? purity ** 2 * among / hidden : 0)
    + (1 - purity) ** 2 * rest / Math.max(effective[1] - hidden, 1e-300));
}
// Average precision without the bias of plugging in, and its jackknife variance.
function unbiasedPrecision(d) { // rows: weight of a cell, of one row in it, of labelled and of all rows at least as high, and so for pairs
  const { model, x } = d, { single, sizes, units, heads: [head, u, n] } = model, cells = model.curve.positive;
  const scale = single ? 1 : units[1] / units[0], own = rowWeights(cells, sizes[0] * units[0]), rows = []; // labels drawn apart have a scale of their own
  for (let i = 1; i <= model.m; i++) {
    const w = own[i - 1] * scale, flagged = single ? head[i] + u[i] + n[i] : w + u[i] * Math.max(1 - w / sizes[1], 0);
    if (cells[i - 1] > 0) rows.push([cells[i - 1] * scale, w, head[i] * scale, flagged, single ? flagged : flagged + w]);
  }
  const sum = (f) => rows.reduce((s, row, j) => s + row[0] * f(row, j), 0), total = sum(() => 1), unit = sum((r) => r[1]) / total;
  const alone = sum((r) => r[1] / r[3]), pairs = sum((r) => (r[2] - r[1]) / r[4]), others = Math.max(x.n - unit, 0);
  if (total <= unit * (1 + 1e-9)) return [others > 0 ? NaN : alone / total, NaN];
  const value = (alone + pairs * others / (total - unit)) / total;
  if (total <= 2 * unit) return [value, NaN];
  let lower = 0;
  const left = new Array(rows.length); // the estimate without one row of the cell
  for (let j = rows.length - 1; j >= 0; j--) {
    const [weight, w, above, flagged] = rows[j], rest = total - w, mean = (unit * total - w * w) / rest;
    lower += weight / flagged;
    left[j] = (alone - w * w / flagged + Math.max(x.n - mean, 0) / (rest - mean) * (pairs - w * ((above - w) / flagged + lower - w / flagged))) / rest;
  }
  const size = sum((r) => 1 / r[1]), mean = sum((r, j) => left[j] / r[1]) / size;
  return [value, (size - 1) / size * sum((r, j) => (left[j] - mean) ** 2 / r[1])];
}
// How many positives each row stands for; a row's square is no product of two rows, so it is left out.
function pairPrecision(d) {
  const { model, x, purity } = d, { single, sizes, units, heads: [head, u, n] } = model, cells = model.curve.positive, m = model.m;
  const by = single ? 1 : units[1] / units[0], own = Float64Array.from(rowWeights(cells, sizes[0] * units[0]), (w) => w * by);
  const stands = x.n * x.positive[0] / sizes[0] / by, lacks = x.n * x.positive[1] / sizes[1], free = clip(1 - purity * sizes[0] / x.n);
  const scale = single ? 1 / Math.max(1 - (stands - lacks) ** 2 * free * (1 - free) * units[0] / Math.max(x.n - units[0], 1e-300), 1e-9)
    : Math.max(1 - units[1] / x.n, 0) / Math.max(1 - units[0] / sizes[0], 1e-9);
  const unlabeled = own.map((_, i) => u[i + 1] - u[i]), found = own.map((_, i) => stands * cells[i] * by + lacks * unlabeled[i]);
  const flagged = own.map((w, i) => (single ? head[i + 1] + u[i + 1] + n[i + 1] : w + u[i + 1] * Math.max(1 - w / sizes[1], 0)) || 1); // a cell above all rows flags none
  let sum = 0, value = 0, lower = 0, later = 0;
  const heads = found.map((v) => (sum += v)), at = (i, w, each, rows) => w / rows + scale * (heads[i] - each * w) / (single ? rows : rows + w);
  const precision = own.map((w, i) => at(i, w, stands, flagged[i])), positive = new Float64Array(m), everyone = new Float64Array(m);
  for (let i = m - 1; i >= 0; i--) {
    value += stands * cells[i] * by * precision[i];
    if (lacks !== 0 && unlabeled[i] > 0) value += lacks * unlabeled[i] * at(i, units[1], lacks, single ? flagged[i] : u[i + 1]);
    lower += found[i] / flagged[i]; later += found[i] / x.n * precision[i] / flagged[i] * (single ? model.total : sizes[1]);
    positive[i] = precision[i] + scale * (lower - stands * own[i] / flagged[i]); everyone[i] = -later;
  }
  return { value: value / x.n, parts: [positive, new Float64Array(m), everyone] };
}
function precisionEstimate(d, plugIn) { // value and variance for the interval, between that of pairs and that of plugging in
  const { model } = d, pairs = pairPrecision(d), known = d.given !== "label_frequency", link = labelWeights(model)?.link ?? 0;
  const [unbiased, jackknife] = d.pure ? unbiasedPrecision(d) : [pairs.value, NaN];
  if (Number.isNaN(unbiased) || Number.isNaN(plugIn) || d.x.n <= 0) return [unbiased, plugIn];
  let own = spread(d, { ...pairs, slope: unbiased / Math.max(d.x.prevalence, 1e-300) }).variance;
  if (d.pure && model.dataset && model.single && known && !Number.isNaN(jackknife)) own = (1 - Math.min(model.sizes[0] / d.x.n, 1)) * jackknife;
  return [unbiased, ((1 - link) * own + (1 + link) * plugIn) / 2];
}
function areaEstimate(d, name) {
  const { model } = d, f = influence(d, name), moves = spread(d, f), precise = name === "average_precision";
  const [value, wide] = precise ? precisionEstimate(d, moves.variance) : [f.value, moves.variance];
  const error = Math.sqrt(wide + moves.shares), inside = clip(value);
  if (Number.isNaN(value)) return { value, low: 0, high: 1, fits: true };
  const ends = Number.isNaN(error) ? [0, 1] : error <= 1e-6 * Math.max(Math.abs(moves.label[0]), Math.abs(moves.label[2]))
    ? flatEnds(d, value, anywhere(d, name))
    : precise ? grownEnds(inside, error * error, 0, model.t) : rankedEnds(d, value, error, name, moves.phi);
  const [low, high] = ends.map((end) => clip(end));
  return { value: inside, low: Math.min(low, inside), high: Math.max(high, inside), fits: Math.abs(value - inside) <= 1e-9 };
}
// Errors grow with the value, except for a steady part of the variance.
function grownEnds(value, variance, steady, t) {
  const grows = Math.min(value > 0 ? (variance - steady) / value ** 2 : 1, 1), rest = Math.max(variance - grows * value ** 2, 0), rate = Math.sqrt(grows);
  if (grows <= 1e-8) return [value - t * Math.sqrt(variance), value + t * Math.sqrt(variance)];
  if (rest <= 1e-8 * variance) return [value * Math.exp(-t * rate), value * Math.exp(t * rate)];
  const unit = Math.sqrt(rest / grows);
  return [-t, t].map((q) => unit * Math.sinh(Math.asinh(value / unit) + q * rate));
}
function oddsEnds(share, variance, steady, t) {
  if (share < 0.5 - 1e-9) return oddsEnds(1 - share, variance, steady, t).map((end) => 1 - end).reverse();
  return grownEnds((1 - share) / share, variance / share ** 4, steady / share ** 4, t).map((end) => end > -1 ? 1 / (1 + end) : 1).reverse();
}
// How an area of ranks would vary if all positives lay above all others (three points of Gauss and Legendre each).
function perfectVariance(d, name) {
  const { model, x, purity } = d, nodes = [-1, 0, 1].map((v) => 0.5 + v * Math.sqrt(0.15)), weights = [5 / 18, 8 / 18, 5 / 18], row = (v) => Float64Array.from(v);
  const above = row([...nodes, 1, 1, 1]), below = row([0, 0, 0, ...nodes]), zero = new Float64Array(6), pi = x.prevalence;
  const masses = [purity, x.a, 0].map((p, k) => row([...weights.map((w) => w * p), ...weights.map((w) => w * (1 - p))]).map((v) => model.sizes[k] > 0 ? v : 0));
  const parts = name === "roc_auc" ? [below.map((f) => 1 - f), above, zero] : [below.map((f, i) => 1 - pi * above[i] - (1 - pi) * f), zero, above];
  return spread({ ...d, errors: [0, 0], model: { ...model, masses, m: 6, labels: null } }, { value: 1, parts, slope: 0 }).variance;
}
function rankedEnds(d, value, error, name, phi) {
  const { model, x } = d, half = name === "lift_auc" ? x.prevalence / 2 : 0, room = 1 - 2 * half, share = Math.min((value - half) / room, 1);
  const perfect = perfectVariance(d, name) / room ** 2, steady = perfect * Math.min((2 * share - 1) ** 2, 1), seen = (error / room) ** 2, variance = d.pure ? Math.max(seen, steady) : seen;
  const known = d.pure ? steady / variance : 0, quantile = Math.hypot(Math.sqrt(known) * model.z, Math.sqrt(1 - known) * model.t);
  const free = model.dataset && model.single ? unlabelledShares(d)[0] : 1, normal = d.pure ? binormalLow(d, share, seen, free, room, phi) : Infinity, trust = Math.min(20 / Math.max(model.effective[0], 1), 1);
  const [low, high] = d.pure ? rankEnds(share, variance, steady, quantile, model.z * Math.sqrt(steady), variance > 0 ? Math.min(perfect / variance, 1) : 0, free, normal, trust) : oddsEnds(share, variance, Math.min(steady, variance), quantile);
  return [half + Math.max(low, 0) * room, half + Math.min(high, 1) * room];
}
// The lower end if scores were normal: hidden positives have the mean of the model then.
function binormalLow(d, share, variance, free, room, phi) {
  const { model, x } = d, size = model.effective[0], cells = Array.from(model.masses[0].keys()).filter((i) => model.masses[0][i] > 0);
  if (!(size > 1)) return Infinity;
  const edge = 0.5 / Math.max(model.effective[1] + model.effective[2], 1), label = model.dataset && model.single ? labelMoves(d, phi) : phi[0];
  let above = 0;
  const fpr = Array.from(model.masses[0], (_, i) => { const mass = KINDS.reduce((s, k) => s + x.negative[k] * model.masses[k][i], 0); return (above += mass) - mass / 2; });
  const turned = share < 0.5 - 1e-9, below = cells.map((i) => clip(turned ? fpr[i] : 1 - fpr[i], edge, 1 - edge)), inside = turned ? 1 - share : share;
  const [area, end] = binormalEnd(below, cells.map((i) => model.masses[0][i]), size, model.z);
  const others = Math.max(variance - free * meanVariance(d, label, 0) / room ** 2, 0);
  return inside - free * (inside - area) - Math.hypot(Math.sqrt(free) * (area - end), model.z * Math.sqrt(others));
}
function binormalEnd(below, mass, size, z) {
  const place = below.map(normalQuantile), mean = mass.reduce((s, m, i) => s + m * place[i], 0), rising = place.map((_, i) => i).sort((i, j) => place[i] - place[j]);
  let sum = 0;
  const halfWay = rising.map((i) => (sum += mass[i]) - mass[i] / 2), k = halfWay.findIndex((h) => h >= 0.5), at = (j) => place[rising[j]];
  const middle = k < 0 ? at(rising.length - 1) : k === 0 ? at(0) : at(k - 1) + (at(k) - at(k - 1)) * (0.5 - halfWay[k - 1]) / (halfWay[k] - halfWay[k - 1]);
  const around = mass.reduce((s, m, i) => s + m * (place[i] - mean) ** 2, 0), lower = 2 * mass.reduce((s, m, i) => s + m * Math.min(place[i] - middle, 0) ** 2, 0);
  const variance = Math.max(around, lower) * size / (size - 1), both = 1 + variance, index = mean / Math.sqrt(both);
  return [normal(index), normal(index - z * Math.sqrt(variance / (size * both) + (mean * variance) ** 2 / (2 * (size - 1) * both ** 3)))];
}
// The arcsine's ends; the lower one further, at Wilson's or that of normal scores, as far as the variance is not that of a perfect order; on the scale of odds as far as a perfect order would have it.
function rankEnds(share, variance, steady, t, steadyReach, crowded, free, normal, trust) {
  if (share < 0.5 - 1e-9) return rankEnds(1 - share, variance, steady, t, steadyReach, crowded, free, normal, trust).map((end) => 1 - end).reverse();
  const inside = Math.max(Math.min(share, 1 - Math.sqrt(steady)), 0.5), even = inside * (1 - inside), known = steady / variance;
  if (!(even > 0) || variance === 0) return [-t, t].map((q) => share + q * Math.sqrt(variance));
  const middle = Math.asin(Math.sqrt(inside)), reach = t * Math.sqrt(variance / even) / 2;
  const [low, high] = [-reach, reach].map((q) => Math.sin(clip(middle + q, 0, Math.PI / 2)) ** 2);
  const at = (share) => wilson(inside, share * even / variance, t)[0], wilsons = Math.min(at(1), inside - Math.sqrt(free) * (inside - at(free)), low);
  const further = wilsons - trust * (2 * inside - 1) ** 2 * Math.max(wilsons - normal, 0);
  const [least, most] = oddsEnds(share, variance, Math.min(steady, variance), t), top = Math.max(high, share + steadyReach);
  return [crowded * least + (1 - crowded) * (known * low + (1 - known) * further), crowded * Math.max(most, top) + (1 - crowded) * top];
}
function anywhere(d, name) { // what a label adds in each cell, and between and beyond them
  const { model } = d, masses = model.masses.map((mass) => new Float64Array(2 * model.m + 1).map((_, i) => i % 2 ? mass[(i - 1) / 2] : 0));
  const spaced = { ...d, model: { ...model, masses, m: 2 * model.m + 1 } };
  return spread(spaced, influence(spaced, name)).label;
}
function flatEnds(d, value, [least, mean, most]) { // all labels alike: as for k of k successes
  const { model, purity } = d, [kept, others] = unlabelledShares(d);
  if (model.dataset && model.single && purity * kept + (1 - purity) * others === 0) return [value, value];
  const part = 1 - ((1 - model.confidence_level) / 2) ** (1 / Math.max(model.effective[0], 1));
  return [value - part * (mean - least), value + part * (most - mean)];
}
function estimate(model, name, i, share, purity) {
  const list = designs(model, share, purity), [first] = list, h = model.hidden_share;
  const read = (d) => AREAS.includes(name) ? areaEstimate(d, name) : pointEstimate(d, i, name);
  let found = list.map(read);
  const { value, fits } = found[0];
  if (list.length > 1) { // ranges that were given: only one of their ends can be missed at a time
    const there = { ...model, ...rangeLevel(model, found) };
    found = list.map((d) => read({ ...d, model: there }));
  } else if (!FACTS[name].prevalence && first.pure && first.errors[0] > 0) { // how many positives carry no label
    const reach = model.z * first.errors[0], ends = h.low < h.high ? [h.low, h.high] : [share - reach, share + reach];
    found.push(...ends.map((end) => read(design(model, clip(end, 0, purity - 1e-6), purity, first.given))));
  }
  return { value, fits, low: Math.min(...found.map((f) => f.low)), high: Math.max(...found.map((f) => f.high)) };
}
// The normal distribution by its series (Marsaglia 2004), and Student's quantile between given ones by Lagrange.
function normal(x) {
  if (Math.abs(x) > 8) return x > 0 ? 1 : 0;
  let sum = x, term = x;
  for (let k = 3; Math.abs(term) > 1e-17 * Math.abs(sum); k += 2) sum += term *= x * x / k;
  return 0.5 + sum * Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
}
// Abramowitz and Stegun 26.2.23, and Halley's steps from there.
function normalQuantile(p) {
  if (p > 0.5) return -normalQuantile(1 - p);
  const t = Math.sqrt(-2 * Math.log(p));
  let x = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  for (let k = 0; k < 3; k++) {
    const step = (normal(x) - p) * Math.sqrt(2 * Math.PI) * Math.exp(x * x / 2);
    x -= step / (1 + x * step / 2);
  }
  return x;
}
// Imbens and Manski (2004): Φ(c + width/error) - Φ(-c) = level; the error is that of the longest interval.
function rangeLevel(model, found) {
  const values = found.map((f) => f.value), width = Math.max(...values) - Math.min(...values);
  const error = Math.max(...found.map((f) => f.high - f.low)) / (2 * model.z);
  if (!Number.isFinite(width) || !(error > 0)) return {};
  let [low, high] = [0, model.z];
  while (high - low > 1e-14) {
    const c = (low + high) / 2;
    if (normal(c + width / error) - normal(-c) > model.confidence_level) high = c; else low = c;
  }
  const c = (low + high) / 2, [at, t] = model.students;
  const student = at.reduce((sum, x, j) => sum + t[j] * at.reduce((p, y, k) => k === j ? p : p * (c - y) / (x - y), 1), 0);
  return { z: c, t: student, confidence_level: normal(c) - normal(-c) };
}
