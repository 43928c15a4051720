/* Long context or retrieval: the twin of ragkit/explore/cost.py. */
(function () {
  "use strict";
  const { register, COLOURS, fixed, count, money, swatch, grid, drawing, label, line } = window.ragkitExplorers;
  const MILLION = 1000000;
  const WAYS = ["long context, read afresh", "long context, cached prefix", "retrieved passages"];
  const LEFT = 58, RIGHT = 350, TOP = 22, BOTTOM = 206;
  const DASHES = ["", "7 4", "2 3"];

  function compute(data, state) {
    const { corpus, retrieved, price, share, questions } = state;
    const afresh = (corpus * price) / MILLION;
    const found = (data.read * corpus * price) / MILLION, missed = (data.write * corpus * price) / MILLION;
    const passages = (retrieved * price) / MILLION;
    const factor = share * data.read + (1 - share) * data.write;
    const each = [afresh, share * found + (1 - share) * missed, passages];
    return {
      each,
      daily: each.map((one) => one * questions),
      times: each.map((one) => one / passages),
      fits: corpus <= state.window,
      factor,
      pays_from: (data.write - 1) / (data.write - data.read),
      same_as_retrieval: retrieved / factor,
      gap: 86400 / questions,
    };
  }

  function summary(data, state, result) {
    const each = result.each, least = each.indexOf(Math.min(...each));
    const fits = result.fits ? "fits" : "does not fit";
    return (
      `The corpus ${fits} into the window. Cheapest a question: ${WAYS[least]}, ${money(each[least])}. ` +
      `At this share the cached corpus costs as much as retrieval when it has ${count(result.same_as_retrieval)} ` +
      `tokens. Caching pays when more than ${fixed(100 * result.pays_from, 0)}% of the questions find the prefix. ` +
      `Spread evenly, a question comes every ${fixed(result.gap, 1)} seconds.`
    );
  }

  const x = (tokens) => LEFT + ((Math.log10(tokens) - 3) * (RIGHT - LEFT)) / 4;
  const y = (dollars) => BOTTOM - ((Math.log10(dollars) + 5) * (BOTTOM - TOP)) / 8;

  function plot(state, result) {
    let shapes = "";
    for (const [dollars, text] of [[0.0001, "$0.0001"], [0.01, "$0.01"], [1, "$1"], [100, "$100"]])
      shapes +=
        line(LEFT, y(dollars), RIGHT, y(dollars), "rk-rule", "#c9ccd1") + label(LEFT - 6, y(dollars) + 4, text, "end");
    for (const [tokens, text, place] of [[1e3, "1K", "middle"], [1e5, "100K", "middle"], [1e7, "10M", "end"]])
      shapes += label(x(tokens), BOTTOM + 17, text, place);
    shapes += label((LEFT + RIGHT) / 2, BOTTOM + 32, "tokens of the corpus (ring: same price)");
    const window = x(state.window);
    shapes += line(window, TOP, window, BOTTOM, "rk-edge", "#7a7f87", 1, "4 3");
    shapes += label(window - 4, TOP - 6, "window", "end");
    const million = state.price / 1000000;
    [million, million * result.factor, 0].forEach((slope, i) => {
      const ends = [1000, 10000000].map((tokens) => (slope ? slope * tokens : result.each[2]));
      shapes += line(x(1000), y(ends[0]), x(10000000), y(ends[1]), `rk-line rk-t${i}`, COLOURS[i], 2.5, DASHES[i]);
      const place = `cx="${fixed(x(state.corpus), 1)}" cy="${fixed(y(result.each[i]), 1)}"`;
      shapes += `<circle ${place} r="5" class="rk-s${i}" fill="${COLOURS[i]}"/>`;
    });
    if (result.same_as_retrieval >= 1000 && result.same_as_retrieval <= 10000000) {
      const place = `cx="${fixed(x(result.same_as_retrieval), 1)}" cy="${fixed(y(result.each[2]), 1)}"`;
      shapes += `<circle ${place} r="7" fill="none" stroke="currentColor" stroke-width="1.5"/>`;
    }
    const said =
      "Price of a question over the tokens of the corpus. Both long contexts rise with the corpus, the cached one " +
      `at ${fixed(result.factor, 2)} times the price; retrieval stays level. They meet at ` +
      `${count(result.same_as_retrieval)} tokens.`;
    return drawing(360, 244, said, shapes);
  }

  function view(data, state, result) {
    const tokens = [state.corpus, state.corpus, state.retrieved];
    const rows = WAYS.map((name, i) => {
      const bill = [count(tokens[i]), money(result.each[i]), money(result.daily[i]), fixed(result.times[i], 1)];
      return ["", [swatch(i) + name, ...bill]];
    });
    const header = [["way", false], ["tokens", true], ["a question", true], ["a day", true], ["times retrieval", true]];
    const caption = `${count(state.questions)} questions a day at $${fixed(state.price, 2)} a million tokens`;
    return `<div class="rk-two">${grid(caption, header, rows)}${plot(state, result)}</div>`;
  }

  register("cost", { compute, summary, view });
})();
