/* The threshold of a semantic cache: the twin of ragkit/explore/cache.py. */
(function () {
  "use strict";
  const { register, COLOURS, escape, fixed, count, share, grid, drawing, label, line } = window.ragkitExplorers;
  const TIE = 1e-9, LOWEST = 0.2, BINS = 40;
  const LEFT = 12, WIDTH = 8.5, MIDDLE = 118, TALL = 84;
  const OUTCOMES = ["hits", "missed", "false_hits", "refused"];

  function compute(data, state) {
    const counts = { hits: 0, missed: 0, false_hits: 0, refused: 0 }, reasons = {};
    const bins = Array.from({ length: BINS }, () => [0, 0, 0, 0]);
    const closest = { false_hits: -1, missed: -1 };
    data.pairs.forEach(([, , cosine, same, reason], at) => {
      const near = cosine >= state.threshold - TIE;
      const served = near && !(state.gate && reason);
      if (near && !served) reasons[reason] = (reasons[reason] || 0) + 1;
      const outcome = same ? (served ? "hits" : "missed") : served ? "false_hits" : "refused";
      counts[outcome] += 1;
      const column = Math.min(Math.max(Math.trunc((cosine - LOWEST) * 50), 0), BINS - 1);
      bins[column][OUTCOMES.indexOf(outcome)] += 1;
      if (outcome in closest && (closest[outcome] < 0 || cosine > data.pairs[closest[outcome]][2]))
        closest[outcome] = at;
    });
    return { ...counts, reasons, bins, false_hit: closest.false_hits, miss: closest.missed };
  }

  function summary(data, state, result) {
    const same = result.hits + result.missed, other = result.false_hits + result.refused;
    const gate = state.gate ? "with the second gate" : "by cosine alone";
    return (
      `At ${fixed(state.threshold, 2)}, ${gate}, the cache serves ${result.hits} of ${same} paraphrases ` +
      `(${share(result.hits, same)}) and ${result.false_hits} of ${other} changed questions wrongly ` +
      `(${share(result.false_hits, other)}).`
    );
  }

  function pair(data, at, what) {
    if (at < 0) return "";
    const [stored, asked, cosine] = data.pairs[at];
    const quote = (text) => `<br><q>${escape(data.texts[text])}</q>`;
    return `<p>${what} (cosine ${fixed(cosine, 3)}):${quote(stored)}${quote(asked)}</p>`;
  }

  function bars(state, result) {
    const above = Math.max(1, ...result.bins.map((bin) => bin[0] + bin[1]));
    const below = Math.max(1, ...result.bins.map((bin) => bin[2] + bin[3]));
    let shapes = "";
    result.bins.forEach(([up, over, down, under], at) => {
      const x = LEFT + at * WIDTH;
      for (const [series, full, pale, most] of [[2, up, over, above], [1, down, under, below]]) {
        let y = 0;
        for (const [number, look] of [[full, ""], [pale, ' fill-opacity="0.35"']]) {
          const height = (TALL * number) / most, top = MIDDLE + (series === 1 ? y : -y - height);
          if (number)
            shapes +=
              `<rect x="${fixed(x, 1)}" y="${fixed(top, 1)}" width="${fixed(WIDTH - 1, 1)}" ` +
              `height="${fixed(height, 1)}" class="rk-s${series}" fill="${COLOURS[series]}"${look}/>`;
          y += height;
        }
      }
    });
    const right = LEFT + BINS * WIDTH;
    shapes += line(LEFT, MIDDLE, right, MIDDLE, "rk-edge", "#7a7f87", 1);
    const at = LEFT + (state.threshold - LOWEST) * 50 * WIDTH;
    shapes += line(at, MIDDLE - TALL - 6, at, MIDDLE + TALL + 6, "rk-mark", "currentColor", 2, "5 3");
    shapes += label(LEFT, 16, `↑ other wording (highest bar: ${above})`, "start");
    shapes += label(LEFT, 2 * MIDDLE - 6, `↓ one token changed (highest bar: ${below})`, "start");
    for (const cosine of [0.2, 0.4, 0.6, 0.8, 1.0]) {
      const place = cosine === LOWEST ? "start" : cosine === 1 ? "end" : "middle";
      shapes += label(LEFT + (cosine - LOWEST) * 50 * WIDTH, 2 * MIDDLE + 16, fixed(cosine, 1), place);
    }
    shapes += label((LEFT + right) / 2, 2 * MIDDLE + 32, "cosine; full colour is served");
    const said =
      "Pairs by cosine. Paraphrases stand above the axis, changed questions below it. At or above the threshold of " +
      `${fixed(state.threshold, 2)} lie the pairs near enough to be served.`;
    return drawing(366, 276, said, shapes);
  }

  function view(data, state, result) {
    const rows = [
      ["", ["other wording, one answer", count(result.hits), count(result.missed)]],
      ["", ["one token changed, another answer", count(result.false_hits), count(result.refused)]],
    ];
    const header = [["pair", false], ["served", true], ["not served", true]];
    const table = grid(`Pairs at threshold ${fixed(state.threshold, 2)}`, header, rows);
    const why = Object.keys(result.reasons).sort().map((reason) => `${escape(reason)} ${result.reasons[reason]}`);
    let said = why.length ? `<p>Near enough, and refused by the second gate: ${why.join(", ")}.</p>` : "";
    said += pair(data, result.false_hit, "The closest pair that is served wrongly");
    said += pair(data, result.miss, "The closest paraphrase that is missed");
    return `<div class="rk-two">${bars(state, result)}<div>${table}${said}</div></div>`;
  }

  register("cache", { compute, summary, view });
})();
