// ---- the state of the page, and its numbers and words ----
const data = JSON.parse($("facts").textContent);
const models = data.document.models.map((model, k) => prepare(model, data.live[k]));
const title = (name) => FACTS[name].title;
const brief = (name) => name.length > 40 ? name.slice(0, 39) + "…" : name;
// -1: each model's own, until a slider moves all to the same.
const first = { share: -1, purity: -1, gamma: 1, place: -1, model: 0, hide: 0, metric: 0, goal: -1, most: 0 };
// The largest share at which the ROC AUC passes 1 by no more than chance explains: the rule of the library's area_bound.
function areaBound(model, purity) {
  const start = purity - model.separation, impure = 1 - purity, [labelled, unlabeled] = model.effective.map((n) => model.z ** 2 / (3 * n));
  const square = 1 - labelled + 3 * unlabeled, linear = start - impure * labelled + (1 + purity) * unlabeled;
  const constant = start ** 2 - impure * (1 + 3 * purity) * labelled - impure ** 2 * unlabeled;
  return square <= 0 ? purity : clip((linear + Math.sqrt(Math.max(linear ** 2 - square * constant, 0))) / square, 0, purity);
}
// The one limit of the share, the same for every model on the rows: above it the scores rule it out.
// Never inside the interval of a share that was estimated from pure labels.
const reachOf = (model, purity) => Math.max(purity === model.label_purity.value ? model.area_bound : areaBound(model, purity), model.share_given || purity < 1 ? 0 : model.hidden_share.high);
const limitOf = (model, purity) => clip(Math.min(reachOf(model, purity), purity === 1 ? model.hidden_share.upper_bound : 1), 0, purity - 1e-6);
const top = Math.min(1, 1.25 * Math.max(...models.map((m) => Math.max(limitOf(m, 1), m.hidden_share.high)), 0.016));
const state = { ...first };
const number = (v) => Number.isFinite(v) ? v.toFixed(3) : "–";
// Percentages, by the rules of the library's percentages.py: two digits, never 100 % of less.
function usualDigits(v) {
  let digits = v >= 0.1 ? 0 : v >= 0.01 ? 1 : 2;
  while (v >= 0.1 && v < 1 && digits < 12 && Number((100 * v).toFixed(digits)) >= 100) digits++;
  return digits < 12 ? digits : 0;
}
const percent = (v) => Number.isFinite(v) ? (100 * v).toFixed(usualDigits(v)) + " %" : "–";
const rounded = (v, kind, digits) => { // the least share at which something holds is rounded up, the largest down
  const ten = 10 ** digits;
  return kind === "least" || kind === "above" ? Math.ceil(100 * v * ten - 1e-9) / ten : kind === "most" ? Math.floor(100 * v * ten + 1e-9) / ten : Number((100 * v).toFixed(digits));
};
const sides = (share, end, kind) => (kind !== "least" && share <= end + 1e-9 ? 1 : 0) + ((kind === "least" || !kind) && share >= end - 1e-9 ? 2 : 0);
// Shares that are taken, and ends of what holds, with so many digits that each stays on its side; those that were given have three.
function percentsBeside(shares, ends, given = false) {
  const full = (v) => { const wanted = Number((100 * v).toPrecision(3)); let d = 0; while (Number(wanted.toFixed(d)) !== wanted) d++; return d; };
  let widths, places, taken, told;
  for (let more = 0; more < 12; more++) {
    widths = shares.map((v) => Math.max(usualDigits(v) + more, given ? full(v) : 0));
    places = ends.map(([v]) => usualDigits(v) + more);
    taken = shares.map((v, k) => rounded(v, "", widths[k]) / 100); told = ends.map(([v, kind], k) => rounded(v, kind, places[k]) / 100);
    if (shares.every((v, k) => ends.every(([end, kind], j) => sides(v, end, kind) === sides(taken[k], told[j], kind)))) break;
  }
  const write = (values, digits) => values.map((v, k) => (100 * v).toFixed(digits[k]) + " %");
  return [write(taken, widths), write(told, places)];
}
const goalPercent = (v) => +(100 * v).toPrecision(12) + " %"; // what somebody asks for keeps its digits
const whole = (v) => Math.round(v).toLocaleString("en");
const span = (low, high, say = number) => Number.isFinite(low) && Number.isFinite(high) ? `${say(low)} – ${say(high)}` : "–";
const shareOf = (model) => state.share < 0 ? model.hidden_share.value : state.share;
const purityOf = (model) => state.purity < 0 ? model.label_purity.value : state.purity;
// The threshold's slider moves all models to the same place in their order of rows.
const indexOf = (model) => state.place < 0 ? model.start : clip(Math.round(state.place * model.m), 1, model.m);
const shown = (k) => !(state.hide >> k & 1);
// Where reviews determine the share, or rows come in clusters, the script cannot repeat the library's numbers.
const fixed = models.some((m) => m.fixed), stay = () => { if (fixed) Object.assign(state, { share: -1, purity: -1, gamma: 1, place: -1 }); };
const moved = () => ["share", "purity", "place"].some((name) => state[name] >= 0);
// Whether the share is the model's own, with its interval.
const own = () => state.share < 0;
// Whether labels and scores leave the share open: numbers that depend on it then have a range and no value.
const open = (model) => model.range_only && own(model);
function cutOf(model) {
  const i = indexOf(model), t = i === model.start ? model.cut : model.curve.threshold[i - 1];
  if (t === null) return i < model.m ? "∞" : "−∞";
  if (i === model.start && model.threshold !== null) return model.cut_words; // as it was given, or shorter
  const below = model.curve.threshold[i] ?? -Infinity; // so many digits that the same cells are flagged
  for (let digits = 4; digits < 17; digits++) { const short = +t.toPrecision(digits); if (short <= t && short > below) return String(short); }
  return String(t);
}
const lowestPurity = () => Math.min(...models.map(purityOf));
const ruledOut = (model) => moved() && shareOf(model) > limitOf(model, purityOf(model)) + 1e-9;
function readHash() {
  Object.assign(state, first);
  for (const part of location.hash.slice(1).split("&")) {
    const [name, text] = part.split("="), value = Number(text);
    if (Object.hasOwn(first, name) && text && Number.isFinite(value)) state[name] = value;
  }
  if (state.purity >= 0) state.purity = clip(state.purity, 0.5);
  if (state.share >= 0) state.share = Math.min(state.share, top, lowestPurity() - 1e-3);
  if (!(state.goal >= 0 && state.goal <= 1)) state.goal = -1;
  state.gamma = clip(state.gamma, 1, 5); state.place = clip(state.place, -1);
  if (!models[state.model]) state.model = 0;
  stay();
}
function hash() {
  const parts = Object.keys(first).filter((name) => state[name] !== first[name]).map((name) => `${name}=${+state[name].toPrecision(10)}`);
  return "#" + parts.join("&");
}

// ---- numbers of one model at the state ----
// An estimated share that nobody moved: distances to the metric at the ends of its interval and to the ends of the
// metric's own interval add in squares, side by side.
function estimateWithShare(model, name, i, share, purity) {
  const h = model.hidden_share, impure = purity < 1 || model.label_purity.low < model.label_purity.high;
  if (!["calibrated", "own"].includes(h.interval) || !own(model) || share !== h.value) return estimate(model, name, i, share, purity);
  const known = model.known || (model.known = { ...model, errors: [0, model.errors[1]], hidden_share: { ...h, low: h.value, high: h.value } });
  const { least, prevalence } = FACTS[name], found = estimate(impure || prevalence ? known : model, name, i, share, purity), v = found.value;
  if (!impure && !prevalence || Number.isNaN(v)) return found;
  // Areas are corrected for chance; a metric pulled back into its range must not pull its ends along.
  const isArea = AREAS.includes(name), middle = valueAt(model, name, i, share, purity, true), shift = isArea ? v - middle : 0, lowest = Math.min(h.low, share);
  const ends = [lowest, Math.min(Math.max(h.high, share), purity - 1e-6)].map((s) => shift + valueAt(model, name, i, s, purity, true));
  let below = v - found.low, above = found.high - v;
  // Where a share leaves the labels no room they have it at a smaller one: as far as at any of five.
  for (let k = 0; !isArea && k < 4 && !leavesRoom(model, i, share, purity); k++) {
    const there = estimate(known, name, i, lowest + k / 4 * (share - lowest), purity);
    if (!Number.isNaN(there.value)) below = Math.max(below, there.value - there.low), above = Math.max(above, there.high - there.value);
  }
  const low = v - Math.hypot(below, Math.max(v - Math.min(...ends), 0)), high = v + Math.hypot(above, Math.max(Math.max(...ends) - v, 0));
  const limits = isArea ? [least, 1] : possible(design(known, share, purity), i, name);
  return { ...found, low: Math.min(clip(low, ...limits), v), high: Math.max(clip(high, ...limits), v) };
}
// Whether labels may go either way by chance without a cell of the table going below 0.
function leavesRoom(model, i, share, purity) {
  const rates = ratesAt(model, i), [tpr, fpr, p] = ratesOf(mix(model.sizes, "", share, purity, model.single), rates), [low, high] = wilson(rates[0], model.effective[0], model.z);
  return purity === 1 && p * (high - tpr) < (1 - p) * fpr && p * (tpr - low) < (1 - p) * (1 - fpr);
}
// Of these rows the labelled ones among those flagged are positive whatever else is.
function certainPrecision(model, i, purity) {
  if (!(model.dataset && model.single && purity === 1 && model.label_purity.low === 1 && !model.sizes[2])) return -Infinity;
  const naive = model.naive || (model.naive = naiveCurve(model));
  return model.plainNaive && model.plainNaive[0] < 0.5 ? -Infinity : METRICS.precision(naive.tpr[i], naive.fpr[i], naive.prevalence) || 0;
}
// Where a metric may lie if the labels are biased, at each share of an interval that nobody moved: never inside the row's own.
function biasRange(model, row, i, share, purity, ratio) {
  const { low, high } = model.hidden_share, ends = (at) => biasEnds(model, row.name, i, at, purity)(ratio), found = ends(share);
  if (!found.every(Number.isFinite)) return null;
  const others = own(model) && low < high ? [0, 1, 2, 3].map((k) => Math.min(low + k / 3 * (high - low), purity - 1e-6)) : [];
  const all = [row.low, row.high, ...found, ...others.flatMap(ends)].filter((v) => !Number.isNaN(v));
  return [Math.min(...all), Math.max(...all)];
}
function rowsOf(model) {
  const i = indexOf(model), gamma = state.gamma, share = shareOf(model), purity = purityOf(model), naive = model.naive || (model.naive = naiveCurve(model));
  const still = !moved(), ruled = ruledOut(model);
  // No slider moves them: those of all rows, which the page's cells are too coarse for.
  const low = model.plainNaive || (model.plainNaive = AREAS.map((_, k) => model.rows[POINT.length + k][0] ?? NaN));
  const grows = purity === 1 && !model.sizes[2] && low[0] >= 0.5;
  return [...POINT, ...AREAS].map((name, j) => {
    const { area: isArea, prevalence, grows: rises } = FACTS[name], before = isArea ? low[AREAS.indexOf(name)] : METRICS[name](naive.tpr[i], naive.fpr[i], naive.prevalence);
    const row = { name, naive: before, ...estimateWithShare(model, name, i, share, purity) }, certain = name === "precision" && model.dataset && model.single;
    if (grows && certain) row.low = Math.max(row.low, before);
    if (still) [row.naive, row.value, row.low, row.high] = model.rows[j].map((v) => v === null ? NaN : v), row.fits = true;
    if (!row.fits || ruled) row.value = row.low = row.high = NaN;
    if (gamma > 1 && row.fits && !ruled) row.bias = biasRange(model, row, i, share, purity, gamma);
    const impure = purity < 1 || model.label_purity.low < model.label_purity.high;
    const found = still && model.reviews;
    row.needs = found ? found.needs.join(", ") : "random labels" + (impure ? ", prevalence, purity" : prevalence ? ", prevalence" : "");
    // Without hidden positives a case-control target has none: only the area has the naive value for a bound.
    if (grows && (certain || !found || found.labels !== "any") && rises.includes(model.sampling) && (name !== "mcc" || row.naive >= 0)) row.least = row.naive, row.certain = certain;
    row.open = open(model) && row.needs.includes("prevalence") && Number.isFinite(row.low);
    if (row.open) row.value = NaN;
    row.bound = row.least === undefined ? "" : (certain ? "" : "~") + number(row.least);
    return row;
  });
}
// What leads, the value or a range without one, and what follows.
const answer = (row) => row.open ? [span(row.low, row.high), ""] : [number(row.value), span(row.low, row.high)];
// The highest rows lead, if they were asked for, until something is moved: then it is the page's threshold.
function leadOf(model, rows) {
  const row = rows.find((r) => r.name === (model.threshold === null && !model.top ? "roc_auc" : "precision"));
  return model.top && !changed() ? { ...row, ...model.top } : row;
}
// How many flagged cases are real, of so many that nothing rounds to all or none: the library's case_words.
const SIZES = [10, 100, 1e3, 1e4, 1e5, 1e6];
function caseWords(row, estimated = false) {
  const values = row.open ? [row.low, row.high] : [row.low, row.value, row.high], near = (v) => Math.floor(v + 0.5), speaks = (of) => (v) => near(of * v) > 0 && near(of * v) < of || v <= 1e-9 || v >= 1 - 1e-9;
  const of = SIZES.find((n) => values.every(speaks(n))) || 1e6, few = near(of * row.low), found = near(of * row.value), most = near(of * row.high);
  if (row.open) return few === most ? `About ${few} of every ${of} flagged cases are real` : `Between ${few} and ${most} of every ${of} flagged cases are real`;
  if (found === 0 || found === of) { // no estimate is sure of all, or of none
    if (few === most) return found ? "All flagged cases are real" : "No flagged case is real";
    const cut = found ? (n) => Math.floor(n * row.low) : (n) => Math.ceil(n * row.high), all = SIZES.find((n) => cut(n) > 0 && cut(n) < n) || 1e6;
    return `At ${found ? "least" : "most"} ${cut(all)} of every ${all} flagged cases are real`;
  }
  if (most - few >= 0.3 * of || estimated && few !== most) return `Between ${few} and ${most} of every ${of} flagged cases are real`;
  return `About ${found} of every ${of} flagged cases ${found === 1 ? "is" : "are"} real${few === most ? "" : ` (${few} to ${most})`}`;
}
// Whether a check warns, or fails.
const checked = (model, code, level) => model.checks.some((c) => c.code === code && c.level === level);
// The library's plain_words: a sentence is asked only where random labels are assumed.
function sentence(model, lead, support) {
  const hangs = model.estimated && own(model), seen = lead.name === "precision" && checked(model, "UC010", "warn"), fair = "If the known positives are a fair sample, ";
  const end = (hangs && model.doubt || "") + (seen ? ", if the scores are those of rows the model was not trained on." : ".");
  const low = lead.naive < lead.low && !model.verdict.reason && !checked(model, "UC006", "fail"); // only then is the naive value too low
  const given = (words) => lead.open ? fair + words[0].toLowerCase() + words.slice(1) : words;
  if (!lead.open && !Number.isFinite(lead.value)) return "This number does not exist at the values set below.";
  if (lead.name === "precision") {
    const why = ` ${fair}"precision ${percent(lead.naive)}" is too low: some "false alarms" are positives that nobody has labelled yet.`;
    return `${given(caseWords(lead, hangs))}${end}${low && model.single ? why : ""}${support}`;
  }
  const pairs = lead.high - lead.low >= 0.3 || hangs && percent(lead.low) !== percent(lead.high) ? `${percent(lead.low)} to ${percent(lead.high)} of the cases` : `${percent(lead.value)} of the cases (${span(lead.low, lead.high, percent)})`;
  const why = ` ${fair}"AUC ${number(lead.naive)}" is too low: unlabeled positives count as errors.`;
  return given("A random positive scores above a random negative in ") + pairs + end + (low ? why : "") + support;
}
function passing(model, share) {
  const rates = POINT.some((name) => !estimate(model, name, indexOf(model), share, purityOf(model)).fits);
  const above = valueAt(model, "specificity", indexOf(model), share, purityOf(model)) > 1;
  return !rates ? "an area would leave 0 to 1" : above ? "precision would pass 100 %" : "a rate would leave 0 to 100 %";
}
function flaggedWords(model, rows, i) {
  const [known, u, n] = model.heads.map((h) => h[i]), all = known + u + n, p = rows.find((row) => row.name === "precision");
  if (!model.single) return "";
  if (!all) return "Flagged: no rows; nothing scores that high.";
  const plain = model.units.every((u) => u === 1); // else sums of weights, which are no rows
  const say = plain ? whole : (v) => v.toLocaleString("en", { maximumSignificantDigits: 4 });
  const least = purityOf(model) === 1 ? known : 0, real = (share) => Math.min(Math.max(all * share, least), all - n);
  const value = say(real(p.value)), ends = span(real(p.low), real(p.high), say);
  const words = `, ${p.open ? `${ends} real` : `about ${value} real (${ends})`}, ${say(known)} of them already known${n > 0 ? `, ${say(n)} known to be negative` : ""}`;
  return `Flagged: ${plain ? `${say(all)} ${all === 1 ? "row" : "rows"}` : `rows of total weight ${say(all)}`} (${percent(all / model.total)})${p.open || Number.isFinite(p.value) ? words : ""}.`;
}
const text = (id, words) => { const node = $(id); if (node.textContent !== words) node.textContent = words; };
const cell = (node, words) => { if (node.textContent !== words) node.textContent = words; };
