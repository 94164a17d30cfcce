// Names of a list so that a reader can tell them apart: what all begin with is taken off, long ones lose their middle.

const kLabelLength = 48;

/** What all texts with a "/" begin with, up to and with one; "": nothing, or fewer than two such texts. */
function commonScope(texts) {
  const distinct = [...new Set(texts.filter((text) => text && text.includes("/")))];
  if (distinct.length < 2) return "";
  let common = distinct[0];
  for (const text of distinct) {
    let same = 0;
    while (same < common.length && same < text.length && common[same] === text[same]) ++same;
    common = common.slice(0, same);
  }
  return common.slice(0, common.lastIndexOf("/") + 1);
}

/** At most `most` characters: the beginning, "…" and the end, which says more of a scope or a path. */
function elided(text, most = kLabelLength) {
  if (text.length <= most) return text;
  const tail = Math.ceil(0.65 * (most - 1));
  const slash = text.indexOf("/", text.length - tail);
  const end = slash >= 0 && slash < text.length - tail / 2 ? slash : text.length - tail;
  return text.slice(0, most - 1 - tail) + "…" + text.slice(end);
}

/** The part of `text` that others of `texts` do not share, with a little of what is around it. */
function differing(text, texts, most) {
  const shared = (same) => Math.max(...texts.filter((other) => other !== text).map((other) => {
    let count = 0;
    while (count < Math.min(text.length, other.length) && same(text, other, count)) ++count;
    return count;
  }));
  const begin = shared((a, b, at) => a[at] === b[at]);
  const end = shared((a, b, at) => a[a.length - 1 - at] === b[b.length - 1 - at]);
  const last = text.slice(text.lastIndexOf("/") + 1);
  const from = Math.max(0, Math.min(begin, text.length - end) - 8), to = Math.min(text.length, Math.max(begin, text.length - end) + 8);
  const middle = text.slice(from, to);
  if (middle.length > most) return (from > 0 ? "…" : "") + text.slice(from, from + most - 2) + "…";
  if (from === 0 && to === text.length) return text;
  return (from > 0 ? "…" : "") + middle + (to < text.length ? "…" + (to + last.length + 1 <= text.length && middle.length + last.length < most ? last : "") : "");
}

/**
 * {prefix, of: text => label}: labels of `texts` without their common scope, elided, and different for different texts.
 * Texts that are null stay null.
 */
function labelsOf(texts, most = kLabelLength) {
  const distinct = [...new Set(texts)].filter((text) => text);
  const prefix = commonScope(distinct);
  const bare = (text) => (text.startsWith(prefix) ? text.slice(prefix.length) : text);
  const labels = new Map();
  const byLabel = new Map();
  for (const text of distinct) {
    const label = elided(bare(text), most);
    if (!byLabel.has(label)) byLabel.set(label, []);
    byLabel.get(label).push(text);
  }
  for (const [label, same] of byLabel) {
    if (same.length === 1) {
      labels.set(same[0], label);
      continue;
    }
    const parts = same.map((text) => differing(text, same.length > 200 ? same.slice(0, 200) : same, most));
    const differ = new Set(parts).size === same.length;
    same.forEach((text, i) => labels.set(text, differ && !byLabel.has(parts[i]) ? parts[i] : bare(text)));
  }
  return {prefix, of: (text) => (text === null || text === undefined ? text : labels.get(text) ?? text)};
}

/** Says once what labels leave out; null: nothing. */
function prefixNote(prefix) {
  return prefix ? h("p", {class: "detail prefix"}, "Names are shown without their common beginning ", h("code", {}, prefix)) : null;
}

/** The category that takes most of the time of `rows`. */
function dominantCategory({columns}, rows) {
  const times = new Map();
  for (const row of rows) times.set(columns.category[row], (times.get(columns.category[row]) || 0) + columns.self_time_ps[row]);
  let best = columns.category[rows[0]];
  for (const [category, time] of times) if (time > times.get(best)) best = category;
  return best;
}

/** The last two parts of an op_name, as "mlp/dot_general"; null stays null. */
function lastScopes(name) {
  if (!name) return null;
  const parts = name.split("/");
  return elided(parts.slice(-2).join("/"), 40);
}
