// ---- the claim and its light: the rule of the library's verdict.py ----
// A claim holds at a share if its interval there, the share taken as known, lies on the right side of the goal.
const TRIED = 17, HALVINGS = 20, NAMES = Object.keys(FACTS), CLAIMED = [...$("goal-metric").options].map((o) => o.value);
const changed = () => moved() || state.gamma > 1;
function claimOf(model) {
  if (state.goal >= 0) return { metric: CLAIMED[state.metric] || CLAIMED[0], at_least: !state.most, value: state.goal };
  return model.verdict.claim;
}
// A required claim may name a threshold of its own, which stays; one of the highest rows, or of a metric that the page
// does not follow, is judged only where nothing is moved.
const claimAt = (model) => state.goal < 0 && model.claim_at >= 0 ? model.claim_at : indexOf(model);
const followed = (model, claim) => !claim || claim.metric in FACTS && (state.goal >= 0 || model.claim_at !== null);
function claimRow(model, claim, rows) {
  const i = claimAt(model), row = claim && rows.find((r) => r.name === claim.metric);
  if (!row || i === indexOf(model)) return row;
  const own = { name: claim.metric, ...estimateWithShare(model, claim.metric, i, shareOf(model), purityOf(model)) };
  const bias = state.gamma > 1 ? biasEnds(model, claim.metric, i, shareOf(model), purityOf(model))(state.gamma) : [NaN];
  return { ...own, bias: bias.every(Number.isFinite) ? bias : undefined };
}
const claimName = (model, claim) => state.goal < 0 && model.verdict.required ? model.words.claim.replace(" (as required)", "") : claimWords(claim);
const meets = (claim, low, high) => claim.at_least ? low >= claim.value : high <= claim.value;
// Estimate at a share taken as known; one that nobody moved stays the kind of share that was given.
function estimateKnown(model, name, i, share, purity) {
  const known = own(model) ? { ...model, errors: [0, model.errors[1]], hidden_share: { ...model.hidden_share, value: share, low: share, high: share } } : model;
  const found = estimate(known, name, i, share, purity);
  return name === "precision" ? { ...found, low: Math.max(found.low, certainPrecision(model, i, purity)) } : found;
}
// 1 it holds, 0 it does not, NaN the share does not fit at the threshold; remembered while only the share moves.
// At the share taken a number that passes its range by chance is that of the nearest possible value (pulled).
function holdsAt(model, claim, i, share, purity, pulled = false) {
  const tries = model.tries || (model.tries = new Map()), key = [claim.metric, claim.value, claim.at_least, FACTS[claim.metric].area || i, purity, own(model), share, pulled].join();
  if (tries.size > 4000) tries.clear();
  if (!tries.has(key)) {
    const found = estimateKnown(model, claim.metric, i, Math.min(share, purity - 1e-6), purity);
    tries.set(key, (found.fits || pulled) && Number.isFinite(found.value) ? +meets(claim, found.low, found.high) : NaN);
  }
  return tries.get(key);
}
function judge(model, claim, i) {
  const purity = purityOf(model), limit = limitOf(model, purity), taken = shareOf(model), h = model.hidden_share;
  const span = own(model) ? [Math.min(h.low, taken), Math.max(h.high, taken)] : [taken, taken], holds = (s) => holdsAt(model, claim, i, s, purity, s === taken && !moved() && taken <= limit + 1e-9);
  const shares = [...new Set([...Array.from({ length: TRIED }, (_, k) => k / (TRIED - 1) * limit), taken, ...span.map((s) => Math.min(s, limit))])].sort((a, b) => a - b);
  const found = shares.map(holds), inside = found.filter((_, k) => shares[k] >= span[0] && shares[k] <= span[1]), at = shares.indexOf(taken);
  const edge = (fails, good) => {
    for (let k = 0; k < HALVINGS; k++) { const middle = (fails + good) / 2; if (holds(middle)) good = middle; else fails = middle; }
    return good;
  };
  let region = null, low = -1;
  found.forEach((f, k) => { if (f && (low < 0 || Math.abs(k - at) < Math.abs(low - at))) low = k; });
  if (low >= 0) {
    let high = low;
    while (low > 0 && found[low - 1] !== 0) low--; // NaN: no such numbers, which says nothing against the claim
    while (high < found.length - 1 && found[high + 1] !== 0) high++;
    region = [low ? edge(shares[low - 1], shares[low]) : shares[0], high < found.length - 1 ? edge(shares[high + 1], shares[high]) : shares[high]];
  }
  return { region, inside, held: !!found[at], all: found[0] && !found.includes(0), possible: taken <= limit + 1e-9, limit };
}
// What was given, at a share, as the user would say it; a share that was moved is one of hidden positives.
function stated(model, share) {
  if (!own(model) || !model.share_given || !model.single) return share;
  const x = mix(model.sizes, "", share, purityOf(model), true);
  return model.given === "prevalence" ? x.prevalence : model.given === "label_frequency" ? purityOf(model) * model.sizes[0] / x.n : share;
}
const kindOf = (model) => own(model) && model.share_given && model.single ? model.given : "";
// Where the claim starts and ceases to hold, and how the ends are rounded: as a share of hidden positives, and as given.
function endsOf(model, found) {
  const ends = [], grows = kindOf(model) !== "label_frequency", region = found && found.region;
  if (region && region[0] > 1e-9) ends.push([stated(model, region[0]), grows ? "least" : "most"]);
  if (region && region[1] < found.limit - 1e-9) ends.push([stated(model, region[1]), grows ? "most" : "least"]);
  return ends.sort((a, b) => a[0] - b[0]);
}
// The share in use as it was given, the ends, and what is ruled out if it is said of the same rows.
function shareTexts(model, found) {
  const h = model.hidden_share, wide = own(model) && model.share_given && h.low < h.high, taken = wide ? [h.low, h.high] : [shareOf(model)];
  const values = taken.map((s) => stated(model, s)).sort((a, b) => a - b), limits = hidden(model) ? [[limitOf(model, purityOf(model)), "above"]] : [];
  const [said, ends] = percentsBeside(values, [...limits, ...endsOf(model, found)], own(model) && model.share_given);
  return [said, ends.slice(limits.length), ends[0]];
}
const hidden = (model) => ["", "unlabeled_prevalence"].includes(kindOf(model));
// The share of hidden positives and its limit, with the digits that they have in the other sentences.
function hiddenTexts(model) {
  const [said, , limit] = hidden(model) ? shareTexts(model, judgeNow(model)) : [[]];
  return said.length === 1 ? [said[0], limit] : percentsBeside([shareOf(model)], [[limitOf(model, purityOf(model)), "above"]]).flat();
}
const shareText = (model) => open(model) ? `0 – ${percent(model.hidden_share.high)}` : hiddenTexts(model)[0], limitText = (model) => hiddenTexts(model)[1];
// What is judged now: where the claim holds; nothing where it is not followed.
function judgeNow(model) {
  const claim = claimOf(model);
  return claim && followed(model, claim) && !model.bands ? judge(model, claim, claimAt(model)) : null;
}
function claimWords(claim) {
  const rate = !FACTS[claim.metric]?.area && claim.metric !== "mcc" && Math.abs(claim.value) <= 1;
  return `${FACTS[claim.metric] ? title(claim.metric) : claim.metric} ${claim.at_least ? "≥" : "≤"} ${rate ? goalPercent(claim.value) : claim.value}`;
}
function shareWords(model, found) {
  const kind = kindOf(model), ends = endsOf(model, found);
  if (!ends.length) return "";
  const words = { prevalence: "of all rows are positive", label_frequency: "of the positives are labelled" }, said = shareTexts(model, found)[1];
  const range = said.length === 1 ? `at ${ends[0][1]} ${said[0]}` : said[0] === said[1] ? `about ${said[0]}` : `between ${said[0]} and ${said[1]}`;
  return `if ${range} ${words[kind] || "of the unlabeled rows are positive"}`;
}
// The condition that sliders set: moving one never makes a light green.
function ifWords(model) {
  const said = shareTexts(model, judgeNow(model))[0].join(" – ").replace(" % –", " –");
  if (own(model) && state.purity < 0 && model.share_given) return model.condition.replace("{}", said) + gammaWords(" and ");
  const pure = purityOf(model) === 1 ? "" : ` and ${percent(purityOf(model))} of the labels are right`;
  return `if ${said} are hidden${pure}${gammaWords(" and ")}`;
}
const gammaWords = (before) => state.gamma > 1 ? `${before}Γ is at most ${state.gamma.toFixed(2)}` : "";
const UNSUPPORTED = "not supported";
// The scores leave hardly a positive hidden, as those of rows that a model was trained on do: no light is green then.
const doubted = (model) => checked(model, "UC016", "warn");
function lightOf(model, rows, ruled) {
  const claim = claimOf(model), i = claimAt(model), row = claimRow(model, claim, rows);
  if (!changed() && state.goal < 0 || !claim && model.verdict.light === "none") return model.words.light;
  if (!followed(model, claim)) return `${ifWords(model)}: not judged here`;
  if (model.reviews) return reviewLight(model, claim, row);
  const no = changed() ? `${UNSUPPORTED} ${ifWords(model)}` : UNSUPPORTED;
  if (model.verdict.reason || ruled || !row || !row.open && !Number.isFinite(row.value)) return no;
  // A bias is set: the claim must survive it, and metrics for which it is not followed support none.
  if (state.gamma > 1 && !(row.bias && meets(claim, ...row.bias))) return no;
  if (model.bands) return !meets(claim, row.low, row.high) ? no : model.share_given ? ifWords(model) : "depends on the prevalence";
  if (!own(model)) return holdsAt(model, claim, i, shareOf(model), purityOf(model)) ? ifWords(model) : no;
  const found = judge(model, claim, i), pure = purityOf(model) === 1 && model.label_purity.low === 1;
  if (found.all && pure && found.possible) return changed() ? ifWords(model) : doubted(model) ? "depends on out-of-fold scores" : "robust if labels are fair and right";
  if (!found.inside.some(Boolean) || (model.share_given && !found.possible)) return no;
  return model.share_given && found.inside.every(Boolean) ? ifWords(model) : "depends on the prevalence" + gammaWords(" if ");
}
// With three digits, rounded down, so that the claim survives it.
function oddsWords(bias) {
  const place = 10 ** (2 - Math.floor(Math.log10(bias)));
  return String(Number((Math.floor(bias * place * (1 + 1e-9)) / place).toPrecision(6)));
}
// That a number supports no claim, or not the one that is set on it.
function supportWords(model, lead, light) {
  const claim = claimOf(model);
  if (!light.startsWith(UNSUPPORTED)) return "";
  if (model.verdict.reason) return ` Nothing can be claimed while ${model.verdict.reason} stands.`;
  if (!claim) return " The number supports no claim.";
  return claim.metric === lead.name && claimAt(model) === indexOf(model) ? ` The number does not support ${claimName(model, claim)}.` : "";
}
// What reviews say of another claim, whatever the share.
function reviewLight(model, claim, row) {
  if (model.verdict.reason || !row || !Number.isFinite(row.value)) return UNSUPPORTED;
  if (meets(claim, row.low, row.high)) return model.reviews.needs.includes("random audit") ? "if the audit was random" : "supported by reviews";
  return (claim.at_least ? row.high < claim.value : row.low > claim.value) ? UNSUPPORTED : "reviews leave it open";
}
function changeWords(model, rows, i) {
  const claim = claimOf(model), share = shareOf(model), purity = purityOf(model);
  if (!changed() && state.goal < 0) return model.words.change;
  if (!claim || model.reviews) return model.words.change;
  if (!followed(model, claim)) return `${claimName(model, claim)} is not followed by the sliders`;
  if (model.bands) return `${claimName(model, claim)} is judged at the reported share only`;
  const name = claimName(model, claim), found = judge(model, claim, i);
  if (model.verdict.reason) return `${name} cannot be claimed while ${model.verdict.reason} stands`;
  if (!found.region) return `${name} holds at no share of hidden positives that the scores allow`;
  const limits = shareWords(model, found);
  if (!found.held || !found.possible) return `${name} would hold only ${limits || `if at most ${percentsBeside([share], [[found.limit, "most"]])[1]} of the unlabeled rows are positive`}`;
  const bias = claim.at_least && FACTS[claim.metric] && !open(model) ? largestBias(model, claim.metric, claim.value, i, share, purity) : NaN;
  const holds = `${name} holds ${limits || `whatever the prevalence${FACTS[claim.metric].prevalence ? " (the value needs it)" : ""}`}`;
  if (!Number.isFinite(bias)) return holds;
  const where = own(model) && model.hidden_share.low < model.hidden_share.high ? "; at the share taken, not all of its range" : "";
  return `${holds},${limits ? " and" : ""} if labelling favours no positive by more than Γ = ${oddsWords(bias)} (odds of a label${where})`;
}
