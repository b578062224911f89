// ---- the library's estimate from verdicts alone, nothing being assumed of the labels ----
const clip = (x, low = 0, high = 1) => Math.min(high, Math.max(low, x));
const sum = (values) => values.reduce((total, v) => total + v, 0);
// Of true and false positives, false and true negatives.
const METRICS = {
  prevalence: (a, b, c, d) => (a + c) / (a + b + c + d),
  precision: (a, b) => a / (a + b),
  recall: (a, b, c) => a / (a + c),
  tpr: (a, b, c) => a / (a + c),
  fnr: (a, b, c) => c / (a + c),
  fpr: (a, b, c, d) => b / (b + d),
  specificity: (a, b, c, d) => d / (b + d),
  npv: (a, b, c, d) => d / (c + d),
  f1: (a, b, c) => 2 * a / (2 * a + b + c),
  f_beta: (a, b, c) => 2 * a / (2 * a + b + c),
  accuracy: (a, b, c, d) => (a + d) / (a + b + c + d),
  balanced_accuracy: (a, b, c, d) => (a / (a + c) + d / (b + d)) / 2,
  informedness: (a, b, c, d) => a / (a + c) - b / (b + d),
  mcc: (a, b, c, d) => (a * d - b * c) / Math.sqrt((a + b) * (a + c) * (b + d) * (c + d)),
  kappa: (a, b, c, d) => 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d)),
  lift: (a, b, c, d) => a * (a + b + c + d) / ((a + b) * (a + c)),
  lee_liu: (a, b, c, d) => a * a * (a + b + c + d) / ((a + b) * (a + c) ** 2),
  geometric_mean: (a, b, c, d) => Math.sqrt(a / (a + c) * (d / (b + d))),
  positive_likelihood_ratio: (a, b, c, d) => a / (a + c) / (b / (b + d)),
  negative_likelihood_ratio: (a, b, c, d) => c / (a + c) / (d / (b + d)),
  predicted_positive_rate: (a, b, c, d) => (a + b) / (a + b + c + d),
};
// Sums of a value over the cells of each group.
function grouped(group, many, value) {
  const out = new Float64Array(many);
  group.forEach((g, i) => { out[g] += value(i); });
  return out;
}
// Groups of strata each of which has a verdict: one without joins the group above it.
function groupsOf(sizes) {
  let at = -1;
  return sizes.map((size) => { at += size > 0 ? 1 : 0; return Math.max(at, 0); });
}
function cellsOf(facts, answers) {
  const cells = facts.cells, cases = answers.map((a, i) => a === null ? -1 : i).filter((i) => i >= 0);
  const sizes = new Array(facts.n_unlabeled.length).fill(0);
  for (const i of cases) sizes[facts.stratum[i]] += 1;
  const group = groupsOf(sizes), many = group[group.length - 1] + 1;
  const rows = new Float64Array(many), drawn = new Float64Array(many);
  group.forEach((g, h) => { rows[g] += facts.n_unlabeled[h]; drawn[g] += sizes[h]; });
  const own = cells.stratum.map((h) => group[h]), at = cases.map((i) => facts.place[i]), verdict = cases.map((i) => answers[i]);
  const positive = cells.positive.map((p, i) => p + cells.unlabeled[i] * cells.posterior[i]);
  at.forEach((c, k) => { positive[c] += (verdict[k] - cells.posterior[c]) * rows[own[c]] / Math.max(drawn[own[c]], 1); });
  const everyone = cells.positive.map((p, i) => p + cells.negative[i] + cells.unlabeled[i]);
  return { cells, many, rows, drawn, own, at, verdict, positive, everyone };
}
// Log odds of the posterior shifted and stretched by all verdicts, drawn towards what they are; a part as many
// positives spread more evenly.
function recalibrated({ cells, at, verdict }, { shift, slope, even, most }) {
  const logit = cells.posterior.map((p) => Math.log(p) - Math.log1p(-p)), prior = [shift ** -2, slope ** -2];
  let [a, b] = [0, 1];
  for (let turn = 0; turn < 50; turn += 1) {
    let [u, v, aa, ab, bb] = [-prior[0] * a, -prior[1] * (b - 1), prior[0], 0, prior[1]];
    at.forEach((c, k) => {
      const x = logit[c], share = 1 / (1 + Math.exp(-(a + b * x))), w = share * (1 - share), rest = verdict[k] - share;
      u += rest; v += rest * x; aa += w; ab += w * x; bb += w * x * x;
    });
    const det = aa * bb - ab * ab, da = (bb * u - ab * v) / det, db = (aa * v - ab * u) / det;
    a += clip(da, -1, 1);
    b += clip(db, -1, 1);
    if (Math.max(Math.abs(da), Math.abs(db)) < 1e-10) break;
  }
  const found = logit.map((x) => 1 / (1 + Math.exp(-clip(a + b * x, -30, 30)))), flat = found.map(Math.sqrt);
  const total = (values) => values.reduce((all, v, i) => all + cells.unlabeled[i] * v, 0), scale = total(found) / Math.max(total(flat), 1e-300);
  return found.map((v, i) => (1 - even) * v + even * Math.min(flat[i] * scale, most));
}
// How likely the unlabeled rows of each cell are positive after what their stratum showed; for variances only.
function sharesOf(read, facts) {
  const { cells, many, drawn, own, at, verdict } = read, likely = recalibrated(read, facts.prior), weight = cells.unlabeled;
  const guess = likely.map((p) => Math.min(p, facts.prior.most)); // no score alone makes a row surer
  const rows = grouped(own, many, (i) => weight[i]), prior = grouped(own, many, (i) => weight[i] * guess[i]).map((v, g) => rows[g] > 0 ? v / rows[g] : 0);
  const found = new Float64Array(many);
  at.forEach((c, k) => { found[own[c]] += verdict[k]; });
  const { positives, weights } = facts.prior, counted = prior.map((p) => clip(positives / Math.min(p, 1 - p), ...weights));
  const tilt = prior.map((p, g) => {
    const share = (found[g] + counted[g] * p) / (drawn[g] + counted[g]);
    return Math.log(share / (1 - share)) - Math.log(p / (1 - p));
  });
  return { rows, likely, known: counted.map((w, g) => w + drawn[g]), share: guess.map((p, i) => { const odds = p / (1 - p) * Math.exp(tilt[own[i]]); return odds / (1 + odds); }) };
}
// Variance of what one row's verdict adds, in each group of strata.
function variances({ cells, many, own }, { rows, share }, moves) {
  const mean = (value) => grouped(own, many, (i) => cells.unlabeled[i] * value(i)).map((v, g) => rows[g] > 0 ? v / rows[g] : 0);
  const middle = mean((i) => share[i]), spread = mean((i) => moves(i) ** 2 * share[i] * (1 - share[i]));
  // What a posterior adds that is off, were the rows of a stratum alike or not.
  const [smooth, off] = [(i) => share[i], (i) => middle[own[i]]].map((right) => {
    const excess = (i) => moves(i) * (right(i) - cells.posterior[i]), level = mean(excess);
    return mean((i) => excess(i) ** 2).map((v, g) => Math.max(v - level[g] ** 2, 0));
  });
  return { off, all: spread.map((v, g) => v + smooth[g]) };
}
// A metric of the table at the threshold, and how it moves if a flagged or another row turns positive.
function metricOf({ positive, everyone }, head, name) {
  const hits = sum(positive.slice(0, head)), total = sum(positive), flagged = sum(everyone.slice(0, head)), rows = sum(everyone);
  const table = [hits, flagged - hits, total - hits, rows - flagged - total + hits], read = METRICS[name];
  if (name === "prevalence") return { value: total / rows, table, turned: [1 / rows, 1 / rows] };
  const step = 1e-5 * Math.max(Math.min(total, rows - total), 1e-5 * rows), inside = table.map((v) => Math.max(v, step));
  const slope = (k) => {
    const [up, down] = [step, -step].map((d) => read(...inside.map((v, j) => j === k ? v + d : v)));
    return (up - down) / (2 * step);
  };
  return { value: read(...table), table, turned: [slope(0) - slope(1), slope(2) - slope(3)] };
}
// Rows without a verdict among which a positive more moves a metric the same way: what they sum up to, and the variance
// that each cell adds, as it matters for more positives and for fewer.
function sidesOf(read, shares, moves) {
  const { cells, many, rows, drawn, own, at, verdict } = read, { share, known } = shares, { unlabeled, posterior } = cells;
  const left = rows.map((v, g) => v * Math.max(v - drawn[g], 0) / drawn[g]), counted = new Float64Array(many), unseen = Float64Array.from(unlabeled);
  at.forEach((c, k) => { counted[own[c]] += verdict[k]; unseen[c] = Math.max(unseen[c] - 1, 0); });
  const seen = counted.map((v, g) => v / drawn[g]), total = (value) => own.reduce((all, g, i) => all + value(i), 0);
  return [1, -1].map((sign) => {
    const part = own.map((g, i) => Math.max(sign * moves(i), 0)), { off, all: one } = variances(read, shares, (i) => part[i]);
    const weight = (i) => unlabeled[i] * part[i] ** 2 * share[i] * (1 - share[i]), sums = grouped(own, many, weight);
    const each = one.map((v, g) => sums[g] > 0 ? left[g] * v * known[g] ** 2 / (known[g] ** 2 - drawn[g]) / sums[g] : 0);
    const squares = grouped(own, many, (i) => unlabeled[i] * part[i] ** 2), outer = own.map((g, i) => weight(i) * each[g]);
    const inner = own.map((g, i) => squares[g] > 0 ? unlabeled[i] * part[i] ** 2 * left[g] * off[g] / squares[g] : 0);
    let found = total((i) => part[i] * unlabeled[i] * posterior[i]);
    at.forEach((c, k) => {
      const g = own[c], rarer = seen[g] <= 0.5 ? verdict[k] * (1 - seen[g]) : (1 - verdict[k]) * seen[g];
      inner[c] += rarer * left[g] / Math.max(drawn[g] - 1, 1) * part[c] ** 2;
      found += part[c] * ((verdict[k] - posterior[c]) * rows[g] / Math.max(drawn[g], 1) - verdict[k]);
    });
    const few = (i) => seen[own[i]] <= 0.5, most = total((i) => part[i] * unseen[i]);
    return {
      part, most, found, likely: total((i) => part[i] * unseen[i] * share[i]),
      more: own.map((g, i) => few(i) ? outer[i] : inner[i]), fewer: own.map((g, i) => few(i) ? inner[i] : outer[i]),
    };
  }).filter((side) => side.most > 0);
}
// How many positives flagged and other rows get more at both ends of what a side leaves open.
function stepsOf({ part, most, found, likely, more, fewer }, head, risk, widened, { extra, times, counted }) {
  const share = clip(found / most), smooth = clip(likely / most, 1e-12, 1 - 1e-12);
  return [[true, more], [false, fewer]].flatMap(([up, each]) => {
    const all = sum(each);
    if (!(all > 0)) return [];
    const middle = up === share < 0.5 ? smooth : clip(share, 1e-12, 1 - 1e-12), [number, usual] = [middle, smooth].map((p) => p * (1 - p) * most ** 2 / (all * widened));
    const rows = most * all / sum(each.map((v, i) => v * part[i])), more = up ? extra : 1 - extra, p = up ? 1 - risk : risk;
    const gap = (usual * times > rows && rows < counted ? countedEnd(share, number, rows, p, more, up) : shareEnd(share, number, p, more, up)) * most - found;
    if (up ? gap <= 0 : gap >= 0) return [];
    const units = each.map((v, i) => part[i] > 0 ? v / part[i] / all * gap : 0);
    return [[sum(units.slice(0, head)), sum(units.slice(head))]];
  });
}
function shareEnd(share, number, p, more, up) {
  const yes = share * number, no = (1 - share) * number, sure = up ? no <= 0 : yes <= 0;
  return sure ? +up : betaQuantile(p, yes + more, no + 1 - more);
}
// The same of so few rows that positives among them are whole ones: beta-binomial, half a row for where they are.
function countedEnd(share, number, rows, p, more, up) {
  const seen = rows * number / Math.max(rows - number, 1e-6 * rows), many = Math.ceil(rows - 1e-9), yes = share * seen + more, no = (1 - share) * seen + 1 - more;
  const logBeta = (a, b) => logGamma(a) + logGamma(b) - logGamma(a + b), whole = logBeta(yes, no) + Math.log(many + 1);
  let [below, place] = [0, 0];
  for (; place <= many; place += 1) {
    below += Math.exp(logBeta(place + yes, many - place + no) - logBeta(place + 1, many - place + 1) - whole);
    if (below >= p) break;
  }
  return (Math.min(place, many) + (up ? 0.5 : -0.5)) / many;
}
function estimateAll(facts, answers) {
  if (!answers.some((a) => a !== null)) return facts.goals.map(() => null);
  const read = cellsOf(facts, answers), shares = sharesOf(read, facts), total = sum(read.positive), rows = sum(read.everyone);
  const possible = total > 0 && total < rows, likely = sum(shares.likely.map((p, i) => p * read.cells.unlabeled[i] + read.cells.positive[i]));
  const { path, open, beyond } = facts.prior, risk = (1 - facts.level) / 2;
  return facts.goals.map(({ name, least, most }) => {
    const found = metricOf(read, facts.head, name), { table, turned } = found, moves = (i) => turned[i < facts.head ? 0 : 1], end = most ?? Infinity, value = clip(found.value, least, end);
    // The first few verdicts say nothing yet.
    const early = { value: name === "prevalence" ? likely / rows : NaN, low: least, high: end, early: true };
    if (!((possible || name === "precision") && Math.abs(found.value - value) <= beyond)) return early;
    const { all: one } = variances(read, shares, moves), { known } = shares;
    const each = one.map((v, g) => read.rows[g] * Math.max(read.rows[g] - read.drawn[g], 0) * v * known[g] ** 2 / (known[g] ** 2 - read.drawn[g]) / read.drawn[g]), all = sum(each);
    const freedom = all > 0 ? all ** 2 / Math.max(sum(each.map((v, g) => v * v / known[g])), 1e-300) : Infinity;
    const widened = (studentQuantile(1 - risk, freedom) / facts.normal) ** 2;
    let [below, above] = [0, 0];
    for (const side of sidesOf(read, shares, moves)) {
      for (const [h, t] of stepsOf(side, facts.head, risk, widened, facts.prior)) {
        const moved = path.map((p) => METRICS[name](table[0] + p * h, table[1] - p * h, table[2] + p * t, table[3] - p * t) - found.value).filter((v) => !Number.isNaN(v));
        below += moved.length ? Math.min(...moved, 0) ** 2 : Infinity;
        above += moved.length ? Math.max(...moved, 0) ** 2 : Infinity;
      }
    }
    const low = Math.max(value - Math.sqrt(below), least), high = Math.min(value + Math.sqrt(above), end);
    return high - low >= open * (end - least) ? early : { value, low, high };
  });
}
// ---- Student's quantile: Newton's steps on the incomplete beta function (continued fraction) ----
function logGamma(x) { // Stirling's series above 15, by the recurrence below
  let shift = 0;
  for (; x < 15; x += 1) shift -= Math.log(x);
  const y = 1 / (x * x), series = (1 / 12 + y * (-1 / 360 + y * (1 / 1260 + y * (-1 / 1680 + y * (1 / 1188 - y * 691 / 360360))))) / x;
  return shift + (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + series;
}
function betaFraction(x, a, b) { // Lentz's method
  let c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), h = d;
  for (let m = 1; m < 500; m += 1) {
    for (const v of [m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))]) {
      d = 1 / (1 + v * d);
      c = 1 + v / c;
      h *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return h;
}
function betaTail(x, a, b) { // P(B < x)
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * betaFraction(x, a, b) / a : 1 - front * betaFraction(1 - x, b, a) / b;
}
function betaQuantile(p, a, b) { // by halves
  let [low, high] = [0, 1];
  for (let turn = 0; turn < 200 && high - low > 1e-16 * high; turn += 1) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (betaTail(middle, a, b) < p) low = middle; else high = middle;
  }
  return (low + high) / 2;
}
function upperTail(t, v) { // P(T > t), t > 0
  return betaTail(v / (v + t * t), v / 2, 0.5) / 2;
}
function studentQuantile(p, v) {
  const freedom = Math.min(v, 1e7), tail = 1 - p; // beyond, it is the normal quantile to 1e-7 of itself
  const density = (t) => Math.exp(logGamma((freedom + 1) / 2) - logGamma(freedom / 2) - Math.log(freedom * Math.PI) / 2 - (freedom + 1) / 2 * Math.log1p(t * t / freedom));
  let t = 1.5;
  for (let turn = 0; turn < 100; turn += 1) {
    const step = (upperTail(t, freedom) - tail) / density(t);
    const next = t + clip(step, -t / 2, 2 * t);
    if (Math.abs(next - t) < 1e-13 * t) return next;
    t = next;
  }
  return t;
}
