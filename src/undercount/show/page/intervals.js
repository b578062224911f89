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
// How many flagged rows are positive at least and at most, so many rows being so.
function possibleHits(model, i, positives) {
  const [p, u] = model.heads.map((h) => h[i]), [sp, su] = model.sizes;
  if (!model.single) return [Math.max(positives - (su - u), 0), Math.min(u, positives)];
  return [Math.max(p, positives - (sp - p) - (su - u)), Math.min(p + u, positives - (sp - p))];
}
// Ends by the likelihood restricted to what is possible: the far one is never at the bound that an estimate passed.
function restricted(x, [low, high], least, most) {
  if (x > most) low = x - Math.hypot(x - low, x - most);
  if (x < least) high = x + Math.hypot(high - x, least - x);
  return [low, high];
}
// Rates of a table with so many hits; no cell smaller than the rows known to be in it.
function tablePoint(model, i, hits, positives) {
  const [p, u, n] = model.heads.map((h) => h[i]), single = model.single, [least, most] = possibleHits(model, i, positives);
  const flagged = single ? p + u + n : u, total = single ? model.total : model.sizes[1];
  hits = Math.max(Math.min(hits, most), least);
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
  if (!model.dataset) return ofPopulation(d, rates);
  if (d.pure) {
    const hits = base[0] * x.n, [least, most] = possibleHits(model, i, x.n), table = (h) => tablePoint(model, i, h, x.n);
    const ends = restricted(hits, poolHits(d, i), least, most).map((end) => clip(end, least, most));
    const nearest = most > 0 && (hits < least || hits > most) ? table(hits) : [clip(base[0]), clip(base[1]), base[2]];
    return { base: nearest, pairs: [anyRecall(ends.map(table))] };
  }
  const hidden = x.a * model.effective[1];
  const size = model.single ? model.effective[0] / (1 - d.purity * clip(d.purity * model.sizes[0] / x.n))
    : model.effective[0] * hidden / (model.effective[0] + hidden);
  const ratio = model.single ? model.sizes[0] / model.sizes[1] : 0;
  return { base, pairs: [(size > 0 ? wilson(rates[0], size, model.z) : [0, 1]).map((g) => at([g, rates[1] - (g - rates[0]) * ratio, rates[2]]))] };
}
function ofPopulation(d, rates, read = ratesOf) {
  const { model } = d, base = read(d.x, rates), pairs = [], everyone = model.total ** 2 / dot(model.sizes, model.units);
  for (const k of KINDS) {
    if (model.sizes[k] > 0) pairs.push(wilson(rates[k], model.effective[k], model.z).map((v) => read(d.x, rates.map((r, j) => j === k ? v : r))));
  }
  if (!model.single) return { base, pairs };
  if (d.given === "positives") pairs.push(wilson(base[2], everyone, model.z).map((p) => [base[0], base[1], p]));
  else pairs.push(wilson(model.sizes[0] / model.total, everyone, model.z).map((share) => {
    let labelled = share * model.total;
    if (d.given === "prevalence") labelled = Math.min(labelled, d.value * model.total / d.purity);
    labelled = Math.min(labelled, model.total - model.sizes[2]);
    const sizes = [labelled, model.total - model.sizes[2] - labelled, model.sizes[2]];
    return read(remix(d, sizes), rates, sizes);
  }));
  return { base, pairs };
}
// Label frequency known: the number of positives is random too.
function byPrediction(d, i, chances = [d.value, d.value]) {
  const { model } = d, z = model.z, [p, u, n] = model.heads.map((h) => h[i]), unit = model.units[0];
  const flagged = p + u + n, total = model.total, seen = [p, model.sizes[0] - p], rows = [flagged, total - flagged];
  const point = (hits, misses) => { // limits may lie outside what the rows allow; possible() cuts the result
    const fitting = Math.min(1, (total - unit / 2) / (hits + misses)), all = (hits + misses) * fitting;
    return [hits * fitting / all, (flagged - hits * fitting) / (total - all), all / total];
  };
  const limits = seen.map((s, j) => {
    if (!model.dataset) return rows[j] > 0 ? wilson(s / rows[j], rows[j] / unit, z).map((end) => end * rows[j] / chances[j]) : [0, 0];
    const c = chances[j], missed = (1 - c) * unit, middle = s + z * z * missed / 2, half = z * Math.sqrt(missed * s + (z * missed) ** 2 / 4);
    return [(middle - half) / c, (middle + half) / c];
  });
  const found = seen.map((s, j) => s / chances[j]), base = point(found[0], found[1]);
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
function combined(base, pairs, name, near) {
  const read = METRICS[name], middle = read(...base), { least } = FACTS[name], bound = near === undefined ? middle : near;
  let below = 0, above = 0; // where the estimate or a limit divides by 0, nothing is known
  for (const pair of pairs) {
    const ends = pair.map((rates) => read(...rates));
    below += Math.max(middle - Math.min(...ends), 0) ** 2;
    above += Math.max(Math.max(...ends) - middle, 0) ** 2;
  }
  const known = (end, other) => Number.isFinite(middle) && !Number.isNaN(end) ? clip(end, least) : other;
  const ends = restricted(middle, [middle - Math.sqrt(below), middle + Math.sqrt(above)], bound, bound);
  return [known(Math.min(ends[0], bound), least), known(Math.max(ends[1], bound), 1)];
}
// Whether a metric divides by the share of flagged (or other) rows where there are none, as counted: rates round.
function divides({ model }, i, name) {
  const [g, q] = ratesAt(model, i), flagged = model.single ? (model.heads[0][i] + model.heads[1][i] + model.heads[2][i]) / model.total : q;
  const none = flagged === 0 && (name === "precision" || name === "mcc"), all = flagged === 1 && name === "mcc";
  return { by0: none || all, undefined: (none || all) && (model.single || g === q) };
}
// What the labels of these rows allow, all unlabeled rows speaking for or against the classifier.
function possible(d, i, name) {
  const { model } = d, read = METRICS[name], heads = model.heads.map((h) => h[i]), tails = model.sizes.map((s, k) => s - heads[k]);
  if (!model.dataset || !model.single || !d.pure) return [FACTS[name].least, 1];
  const flagged = heads[0] + heads[1] + heads[2], corner = (hits, misses) => {
    const all = hits + misses;
    return read(hits / all, (flagged - hits) / (model.total - all), all / model.total);
  };
  const corners = [corner(heads[0], tails[0] + tails[1]), corner(heads[0] + heads[1], tails[0])];
  const either = (v) => corners.map((c) => Number.isNaN(c) ? v : c);
  return [Math.min(...either(FACTS[name].least)), Math.max(...either(1))];
}
function pointEstimate(d, i, name) {
  const { base, pairs } = sources(d, i, name);
  const more = name === "recall" && d.pure ? [] : sharePairs(d, i);
  const nearest = METRICS[name](clip(base[0]), clip(base[1]), base[2]), limits = possible(d, i, name), value = Number.isNaN(nearest) ? nearest : clip(nearest, ...limits);
  const [low, high] = combined(base, [...pairs, ...more], name, value).map((end) => clip(end, ...limits)), [t, f, p] = ratesOf(d.x, ratesAt(d.model, i)), raw = METRICS[name](t, f, p);
  // Rates outside [0, 1], where that matters for the metric, mean that the shares do not fit.
  const fits = (name === "recall" && d.pure) || Math.abs(raw - value) <= 1e-9 * Math.max(1, Math.abs(value)) || Math.max(-t, t - 1, -f, f - 1) <= 1e-9;
  const zero = divides(d, i, name);
  if (Number.isNaN(value) || zero.by0) return { value: zero.undefined ? NaN : value, low: FACTS[name].least, high: 1, fits: fits || zero.undefined };
  return { value, low: Math.min(low, value), high: Math.max(high, value), fits };
}
