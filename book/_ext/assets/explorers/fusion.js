/* Rankings fused by rank and by weighted score: the twin of ragkit/explore/fusion.py. */
(function () {
  "use strict";
  const { register, path, fixed, fsum, named, bar, grid } = window.ragkitExplorers;

  function byRank(rank, kappa) {
    const found = new Map(); // in the order in which ids are first met, which settles the last ties
    for (const places of rank)
      for (const [id, place] of places) {
        if (!found.has(id)) found.set(id, []);
        found.get(id).push(place);
      }
    return [...found]
      .map(([id, places]) => ({ id, score: fsum(places.map((place) => 1 / (kappa + place))), best: Math.min(...places) }))
      .sort((a, b) => b.score - a.score || a.best - b.best)
      .map(({ id, score }) => [id, score, rank.map((places) => (places.has(id) ? 1 / (kappa + places.get(id)) : 0))]);
  }

  function scaled(scores, ids) {
    const absent = Math.min(0, ...scores.values());
    const values = ids.map((id) => (scores.has(id) ? scores.get(id) : absent));
    const low = Math.min(...values), high = Math.max(...values);
    return values.map((value) => (high === low ? 0 : (value - low) / (high - low)));
  }

  function byScore(first, second, weight) {
    const ids = [...new Set([...first.keys(), ...second.keys()])];
    const one = scaled(first, ids), other = scaled(second, ids);
    return ids
      .map((id, i) => [id, weight * one[i] + (1 - weight) * other[i], [weight * one[i], (1 - weight) * other[i]]])
      .sort((a, b) => b[1] - a[1]);
  }

  function compute(data, state) {
    const used = state.third === false ? data.rankings.slice(0, 2) : data.rankings;
    const cut = used.map((hits) => hits.slice(0, state.depth));
    const rank = cut.map((hits) => new Map(hits.map(([id], i) => [id, i + 1])));
    const by_rank = byRank(rank, state.kappa);
    const by_score = byScore(new Map(cut[0]), new Map(cut[1]), state.weight);
    const ranks = Object.fromEntries(
      by_rank.map(([id]) => [id, rank.map((places) => (places.has(id) ? places.get(id) : null))]));
    const shared = Object.values(ranks).filter((places) => places.filter((place) => place !== null).length > 1).length;
    return { by_rank, by_score, ranks, shared };
  }

  function summary(data, state, result) {
    const place = (order, id) => result[order].findIndex((row) => row[0] === id) + 1 || "none";
    const said = data.gold.map((id) =>
      `Gold passage ${id}: place ${place("by_rank", id)} by rank, place ${place("by_score", id)} by score.`);
    if (!said.length)
      said.push(`First by rank: ${result.by_rank[0][0]}. First by score: ${result.by_score[0][0]}.`);
    return [...said, `Passages in more than one ranking: ${result.shared}.`].join(" ");
  }

  function order(data, result, which, caption, names, digits) {
    const rows = [], top = result[which][0][1];
    result[which].forEach(([id, score, parts], i) => {
      const gold = data.gold.includes(id);
      if (i + 1 > data.rows && !gold) return;
      const ranks = result.ranks[id].slice(0, names.length).map((rank) => String(rank || "–"));
      const mark = gold ? " <strong>gold</strong>" : "";
      const cells = [`${i + 1}. <code>${path(id)}</code>${mark}`, ...ranks, fixed(score, digits) + bar(parts, top)];
      rows.push([gold ? "rk-gold" : "", cells]);
    });
    const header = [["passage", false], ...names.map((name, i) => [named(i, name), true])];
    return grid(caption, [...header, ["score", true]], rows);
  }

  function view(data, state, result) {
    const names = data.names, used = state.third === false ? names.slice(0, 2) : names;
    const ranked = `Reciprocal rank fusion, κ = ${state.kappa}`;
    const weighted = `Weighted fusion, w = ${fixed(state.weight, 2)} for ${names[0]}`;
    return (
      '<div class="rk-two">' +
      order(data, result, "by_rank", ranked, used, 5) +
      order(data, result, "by_score", weighted, names.slice(0, 2), 3) +
      "</div>"
    );
  }

  register("fusion", { compute, summary, view });
})();
