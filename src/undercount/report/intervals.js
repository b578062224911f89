// ---- intervals: the library's closed forms ----
// What is taken as known: the share and purity, their standard errors, and which share was given.
function design(model, share, purity, given = "unlabeled_prevalence", errors = [0, 0]) {
  const x = mix(model.sizes, "", share, purity, model.single);
  const values = { prevalence: x.prevalence, positives: x.n, label_frequency: purity * model.sizes[0] / x.n };
  return { model, purity, given, errors, x, pure: purity === 1, value: given in values ? values[given] : share };
}
const remix = (d, sizes = d.model.sizes, purity = d.purity) => mix(sizes, d.given, d.value, purity, d.model.single);
// The first is the estimate's; the others span ranges that were given (five points each).
function designs(model, share, purity) {
  const h = model.hidden_share, k = model.label_purity;
  const stays = [Math.abs(share - h.value) < 1e-12, Math.abs(purity - k.value) < 1e-12];
  const given = stays[0] && stays[1] ? model.given : "unlabeled_prevalence";
  const errors = model.errors.map((e, j) => stays[j] ? e : 0);
  const span = (s, j, v) => stays[j] && errors[j] === 0 && s.low < s.high ? [0, 1, 2, 3, 4].map((t) => s.low + t / 4 * (s.high - s.low)) : [v];
  const shares = span(h, 0, share), purities = span(k, 1, purity), out = [design(model, share, purity, given, errors)];
  if (shares.length * purities.length > 1) {
    for (const s of shares) for (const p of purities) {
      let moved = s;
      if (model.single && given === "label_frequency") moved = s * p / purity;
      else if (model.single && given !== "unlabeled_prevalence") moved = Math.max(s + (purity - p) * model.sizes[0] / model.sizes[1], 0);
      if (moved < p) out.push(design(model, moved, p, given));
    }
  }
  return out;
}
function wilson(p, n, z) {
  const pull = z * z / n, centre = (p + pull / 2) / (1 + pull);
  const half = Math.sqrt(Math.max(p * (1 - p) * pull + pull * pull / 4, 0)) / (1 + pull);
  return [Math.min(Math.max(centre - half, 0), p), Math.max(Math.min(centre + half, 1), p)];
}
// Hits among the positives that the labelled rows were drawn from, without replacement.
function poolHits(d, i) {
  const { model } = d, drawn = model.sizes[0], pool = model.single ? Math.max(d.x.n, drawn) : d.x.n + drawn;
  const plain = model.units.every((u) => u === 1);
  const size = plain ? (pool > drawn ? drawn * Math.max(pool - 1, 0) / (pool - drawn) : Infinity) : model.effective[0] / (1 - drawn / pool);
  const taken = model.single ? 0 : model.heads[0][i];
  return wilson(model.rates[0][i], size, model.z).map((end) => end * pool - taken);
}
// Rates of a table with so many hits; no cell smaller than the rows known to be in it.
function tablePoint(model, i, hits, positives) {
  const [p, u, n] = model.heads.map((h) => h[i]), [sp, su, sn] = model.sizes, single = model.single;
  const flagged = single ? p + u + n : u, total = single ? model.total : su;
  const most = flagged - (single ? n : 0), missed = single ? sp - p : 0, rest = total - flagged - (single ? sn - n : 0);
  hits = Math.max(Math.min(hits, most, positives - missed), single ? p : 0, positives - rest);
  return [clip(hits / positives), clip((flagged - hits) / (total - positives)), positives / total];
}
function recallEnds(d, i) {
  const { model } = d;
  if (d.given === "label_frequency") return wilson(model.rates[0][i], model.effective[0] / (1 - d.value), model.z);
  return poolHits(d, i).map((end) => clip(end / d.x.n));
}
// Nothing is known of the recall of rows none of which is positive.
const anyRecall = (ends) => ends.map(([t, f, p], k) => [Number.isNaN(t) ? k : t, f, p]);
// The estimated rates, and pairs of rates with one source of chance at its two limits.
function sources(d, i, name) {
  const { model, x } = d, rates = ratesAt(model, i), base = ratesOf(x, rates), at = (r) => ratesOf(x, r);
  if (name === "recall" && d.pure) {
    const ends = model.dataset ? recallEnds(d, i) : wilson(rates[0], model.effective[0], model.z);
    return { base, pairs: [anyRecall(ends.map((r) => [r, base[1], base[2]]))] };
  }
  if (d.pure && d.given === "label_frequency") return byPrediction(d, i);
  if (!model.dataset) return ofPopulation(d, rates, base);
  if (d.pure) return { base: [clip(base[0]), clip(base[1]), base[2]], pairs: [anyRecall(poolHits(d, i).map((hits) => tablePoint(model, i, hits, x.n)))] };
  const hidden = x.a * model.effective[1];
  const size = model.single ? model.effective[0] / (1 - d.purity * clip(d.purity * model.sizes[0] / x.n))
    : model.effective[0] * hidden / (model.effective[0] + hidden);
  const ratio = model.single ? model.sizes[0] / model.sizes[1] : 0;
  return { base, pairs: [(size > 0 ? wilson(rates[0], size, model.z) : [0, 1]).map((g) => at([g, rates[1] - (g - rates[0]) * ratio, rates[2]]))] };
}
function ofPopulation(d, rates, base) {
  const { model } = d, pairs = [], everyone = model.total ** 2 / dot(model.sizes, model.units);
  for (const k of KINDS) {
    if (model.sizes[k] > 0) pairs.push(wilson(rates[k], model.effective[k], model.z).map((v) => ratesOf(d.x, rates.map((r, j) => j === k ? v : r))));
  }
  if (!model.single) return { base, pairs };
  if (d.given === "positives") pairs.push(wilson(base[2], everyone, model.z).map((p) => [base[0], base[1], p]));
  else pairs.push(wilson(model.sizes[0] / model.total, everyone, model.z).map((share) => {
    let labelled = share * model.total;
    if (d.given === "prevalence") labelled = Math.min(labelled, d.value * model.total / d.purity);
    labelled = Math.min(labelled, model.total - model.sizes[2]);
    return ratesOf(remix(d, [labelled, model.total - model.sizes[2] - labelled, model.sizes[2]]), rates);
  }));
  return { base, pairs };
}
// Label frequency known: the number of positives is random too.
function byPrediction(d, i) {
  const { model, value: c } = d, z = model.z, [p, u, n] = model.heads.map((h) => h[i]), unit = model.units[0];
  const flagged = p + u + n, total = model.total, seen = [p, model.sizes[0] - p], rows = [flagged, total - flagged];
  const point = (hits, misses) => { // limits may lie outside what the rows allow; possible() cuts the result
    const fitting = Math.min(1, (total - unit / 2) / (hits + misses)), all = (hits + misses) * fitting;
    return [hits * fitting / all, (flagged - hits * fitting) / (total - all), all / total];
  };
  const limits = seen.map((s, j) => {
    if (!model.dataset) return rows[j] > 0 ? wilson(s / rows[j], rows[j] / unit, z).map((end) => end * rows[j] / c) : [0, 0];
    const missed = (1 - c) * unit, middle = s + z * z * missed / 2, half = z * Math.sqrt(missed * s + (z * missed) ** 2 / 4);
    return [(middle - half) / c, (middle + half) / c];
  });
  const found = seen.map((s) => s / c), base = point(found[0], found[1]);
  const pairs = [limits[0].map((v) => point(v, found[1])), limits[1].map((v) => point(found[0], v))];
  if (!model.dataset) {
    const [t, f, pi] = base, share = pi * t + (1 - pi) * f;
    const precision = METRICS.precision(t, f, pi) || 0, omitted = (1 - t) * pi / (1 - share) || 0;
    pairs.push(wilson(share, total ** 2 / dot(model.sizes, model.units), z).map((s) => {
      const hits = s * precision, all = hits + (1 - s) * omitted;
      return [hits / all, (s - hits) / (1 - all), all];
    }));
  }
  return { base, pairs };
}
// Rates with an uncertain share or purity at its two limits.
function sharePairs(d, i) {
  const { model, errors, x, purity } = d, rates = ratesAt(model, i), pairs = [];
  if (errors[0] > 0) {
    const ends = [-1, 1].map((s) => clip(x.a + s * model.z * errors[0], 0, purity - 1e-6));
    pairs.push(ends.map((a) => ratesOf(mix(model.sizes, "", a, purity, model.single), rates)));
  }
  if (errors[1] > 0) pairs.push([-1, 1].map((s) => ratesOf(remix(d, model.sizes, clip(purity + s * model.z * errors[1], x.a + 1e-6, 1)), rates)));
  return pairs;
}
// Distances to each source's limits add in squares, side by side (Zou and Donner's MOVER).
function combined(base, pairs, name) {
  const read = METRICS[name], middle = read(...base), least = name === "mcc" ? -1 : 0;
  let below = 0, above = 0; // where the estimate or a limit divides by 0, nothing is known
  for (const pair of pairs) {
    const ends = pair.map((rates) => read(...rates));
    below += Math.max(middle - Math.min(...ends), 0) ** 2;
    above += Math.max(Math.max(...ends) - middle, 0) ** 2;
  }
  const known = (end, other) => Number.isFinite(middle) && !Number.isNaN(end) ? clip(end, least) : other;
  return [known(middle - Math.sqrt(below), least), known(middle + Math.sqrt(above), 1)];
}
// Whether a metric divides by the share of flagged (or other) rows where there are none, as counted: rates round.
function divides({ model }, i, name) {
  const [g, q] = ratesAt(model, i), flagged = model.single ? (model.heads[0][i] + model.heads[1][i] + model.heads[2][i]) / model.total : q;
  const none = flagged === 0 && (name === "precision" || name === "mcc"), all = flagged === 1 && name === "mcc";
  return { by0: none || all, undefined: (none || all) && (model.single || g === q) };
}
// For these rows: cut where the labels rule values out, all unlabeled rows speaking for or against the classifier.
function possible(d, i, name, ends) {
  const { model } = d, read = METRICS[name], heads = model.heads.map((h) => h[i]), tails = model.sizes.map((s, k) => s - heads[k]);
  if (!model.dataset || !model.single || !d.pure) return ends;
  const flagged = heads[0] + heads[1] + heads[2], corner = (hits, misses) => {
    const all = hits + misses;
    return read(hits / all, (flagged - hits) / (model.total - all), all / model.total);
  };
  const corners = [corner(heads[0], tails[0] + tails[1]), corner(heads[0] + heads[1], tails[0])];
  const either = (v) => corners.map((c) => Number.isNaN(c) ? v : c), least = Math.min(...either(name === "mcc" ? -1 : 0)), most = Math.max(...either(1));
  return ends.map((end) => clip(end, least, most));
}
function pointEstimate(d, i, name) {
  const { base, pairs } = sources(d, i, name);
  const more = name === "recall" && d.pure ? [] : sharePairs(d, i);
  const [low, high] = possible(d, i, name, combined(base, [...pairs, ...more], name));
  const value = METRICS[name](clip(base[0]), clip(base[1]), base[2]), [t, f, p] = ratesOf(d.x, ratesAt(d.model, i)), raw = METRICS[name](t, f, p);
  // Rates outside [0, 1], where that matters for the metric, mean that the shares do not fit.
  const fits = (name === "recall" && d.pure) || Math.abs(raw - value) <= 1e-9 * Math.max(1, Math.abs(value)) || Math.max(-t, t - 1, -f, f - 1) <= 1e-9;
  const zero = divides(d, i, name);
  if (Number.isNaN(value) || zero.by0) return { value: zero.undefined ? NaN : value, low: name === "mcc" ? -1 : 0, high: 1, fits: fits || zero.undefined };
  return { value, low: Math.min(low, value), high: Math.max(high, value), fits };
}

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
function unbiasedPrecision(d) { // rows: weight of a cell, of one row in it, of labelled and of all rows at least as high
  const { model, x } = d, { single, sizes, units, heads: [head, u, n] } = model, cells = model.curve.positive;
  const scale = single ? 1 : units[1] / units[0], own = rowWeights(cells, sizes[0] * units[0]), rows = []; // labels drawn apart have a scale of their own
  for (let i = 1; i <= model.m; i++) {
    const w = own[i - 1] * scale;
    if (cells[i - 1] > 0) rows.push([cells[i - 1] * scale, w, head[i] * scale, single ? head[i] + u[i] + n[i] : w + u[i] * Math.max(1 - w / sizes[1], 0)]);
  }
  const sum = (f) => rows.reduce((s, row, j) => s + row[0] * f(row, j), 0), total = sum(() => 1), unit = sum((r) => r[1]) / total;
  const alone = sum((r) => r[1] / r[3]), pairs = sum((r) => (r[2] - r[1]) / r[3]), others = Math.max(x.n - unit, 0);
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
function areaEstimate(d, name) {
  const { model } = d, f = influence(d, name), moves = spread(d, f), precision = name === "average_precision";
  let value = f.value, wide = moves.variance;
  if (precision && d.pure) {
    const [unbiased, jackknife] = unbiasedPrecision(d), link = labelWeights(model)?.link ?? 0, known = d.given !== "label_frequency";
    value = unbiased;
    if (model.dataset && model.single && known && !Number.isNaN(jackknife)) wide = ((1 - link) * (1 - Math.min(model.sizes[0] / d.x.n, 1)) * jackknife + (1 + link) * wide) / 2;
  }
  const error = Math.sqrt(wide + moves.shares), inside = clip(value);
  if (Number.isNaN(value)) return { value, low: 0, high: 1, fits: true };
  const ends = Number.isNaN(error) ? [0, 1] : error <= 1e-6 * Math.max(Math.abs(moves.label[0]), Math.abs(moves.label[2]))
    ? flatEnds(d, value, anywhere(d, name))
    : name === "roc_auc" ? skewedEnds(inside, error, thirdMoments(d, moves), model.t) : areaEnds(value, error, precision, model.t);
  const [low, high] = ends.map((end) => clip(end));
  return { value: inside, low: Math.min(low, inside), high: Math.max(high, inside), fits: Math.abs(value - inside) <= 1e-9 };
}
function areaEnds(value, error, log, t) {
  if (!(value > 0 && value < 1)) return [clip(value) - t * error, clip(value) + t * error];
  if (log) return [value * Math.exp(-t * error / value), value * Math.exp(t * error / value)];
  const middle = Math.log(value) - Math.log1p(-value), half = t * error / (value * (1 - value));
  return [1 / (1 + Math.exp(half - middle)), 1 / (1 + Math.exp(-middle - half))];
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
  const found = designs(model, share, purity).map((d) => AREAS.includes(name) ? areaEstimate(d, name) : pointEstimate(d, i, name));
  return { ...found[0], low: Math.min(...found.map((f) => f.low)), high: Math.max(...found.map((f) => f.high)) };
}
