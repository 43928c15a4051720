/* Personalized PageRank step by step: the twin of ragkit/explore/walk.py. */
(function () {
  "use strict";
  const { register, COLOURS, escape, fixed, signed, grid, drawing, label, line } = window.ragkitExplorers;
  const WIDTH = 340, HEIGHT = 340;
  const total = (values) => values.reduce((sum, value) => sum + value, 0);
  const apart = (one, other) => total(one.map((value, i) => Math.abs(value - other[i])));

  /* For each node where its mass goes: pairs [node, share]; none from a dead end. */
  function ways(data, both) {
    const out = data.names.map(() => new Map());
    const add = (a, b, weight) => out[a].set(b, (out[a].get(b) || 0) + weight);
    for (const [a, b, weight] of data.edges) {
      add(a, b, weight);
      if (both) add(b, a, weight);
    }
    return out.map((targets) => {
      const whole = total([...targets.values()]);
      return [...targets].map(([node, weight]) => [node, weight / whole]);
    });
  }

  function next(mass, out, seed, restart, back) {
    const moved = mass.map(() => 0);
    let lost = 0;
    mass.forEach((held, i) => {
      if (!out[i].length) lost += held;
      for (const [node, part] of out[i]) moved[node] += held * part;
    });
    if (back) moved[seed] += lost;
    return moved.map((arrived, i) => (1 - restart) * arrived + (i === seed ? restart : 0));
  }

  function compute(data, state) {
    const out = ways(data, state.both), seed = data.names.indexOf(state.seed);
    const step = (mass) => next(mass, out, seed, state.restart, state.back);
    let mass = data.names.map((_, i) => (i === seed ? 1 : 0)), before = mass;
    for (let i = 0; i < state.step; i++) [before, mass] = [mass, step(mass)];
    let settled = mass;
    for (let i = 0, error = 1; i < 5000 && error > 1e-12; i++) {
      const after = step(settled);
      error = (apart(after, settled) * (1 - state.restart)) / state.restart;
      settled = after;
    }
    return {
      mass,
      change: mass.map((held, i) => held - before[i]),
      settled,
      dangling: out.map((targets) => !targets.length),
      sum: total(mass),
      moved: apart(mass, before),
    };
  }

  function summary(data, state, result) {
    const most = Math.max(...result.mass);
    const best = result.mass.findIndex((held) => held >= most - 1e-9); // rounding decides no tie
    return (
      `Step ${state.step}: the mass sums to ${fixed(result.sum, 4)}, and ${fixed(result.moved, 4)} changed ` +
      `since the last step. Most is on ${data.names[best]}, ${fixed(result.mass[best], 4)}.`
    );
  }

  function link(a, b, fromRadius, toRadius, arrow) {
    const length = Math.sqrt((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]));
    const x = (b[0] - a[0]) / length, y = (b[1] - a[1]) / length;
    if (length <= fromRadius + toRadius + 6) return ""; // two large nodes may touch
    const start = [a[0] + x * (fromRadius + 2), a[1] + y * (fromRadius + 2)];
    const tip = [b[0] - x * (toRadius + 4), b[1] - y * (toRadius + 4)];
    let shape = line(...start, ...tip, "rk-edge", "#7a7f87", 1.5);
    if (arrow) {
      const base = [tip[0] - 9 * x, tip[1] - 9 * y];
      const corners = [tip, [base[0] - 4 * y, base[1] + 4 * x], [base[0] + 4 * y, base[1] - 4 * x]];
      const points = corners.map(([px, py]) => `${fixed(px, 1)},${fixed(py, 1)}`).join(" ");
      shape += `<polygon points="${points}" class="rk-head" fill="#7a7f87"/>`;
    }
    return shape;
  }

  function graph(data, state, result) {
    const { names, where } = data;
    const radius = result.mass.map((mass) => 5 + 27 * Math.sqrt(mass));
    let shapes = data.edges.map(([a, b]) => link(where[a], where[b], radius[a], radius[b], !state.both)).join("");
    names.forEach((name, i) => {
      const [x, y] = where[i];
      const look = `cx="${x}" cy="${y}" r="${fixed(radius[i], 1)}" class="rk-node" fill="${COLOURS[0]}"`;
      // A broken rim says that no arrow leaves; a second rim says that the walk starts here.
      const rim = result.dangling[i] ? ' stroke="currentColor" stroke-width="2" stroke-dasharray="3 3"' : "";
      shapes += `<circle ${look}${rim}/>`;
      if (name === state.seed) {
        const ring = `cx="${x}" cy="${y}" r="${fixed(radius[i] + 4, 1)}" fill="none" class="rk-ring"`;
        shapes += `<circle ${ring} stroke="${COLOURS[1]}" stroke-width="3"/>`;
      }
      const lines = data.lines[i];
      [...lines, fixed(result.mass[i], 3)].forEach((words, j) => {
        shapes += label(x, y + radius[i] + 17 + 14 * j, words, "middle", j === lines.length ? "rk-mass" : "");
      });
    });
    const kind = state.both ? "lines" : "arrows";
    const said =
      `A graph of ${names.length} nodes and ${data.edges.length} ${kind}. ` +
      "The larger a node, the more mass it holds.";
    return drawing(WIDTH, HEIGHT, said, shapes);
  }

  function view(data, state, result) {
    const rows = data.names.map((name, i) => {
      const marks = [];
      if (name === state.seed) marks.push("seed");
      if (result.dangling[i]) marks.push("dead end");
      const note = marks.length ? ` (${marks.join(", ")})` : "";
      const numbers = [fixed(result.mass[i], 4), signed(result.change[i], 4), fixed(result.settled[i], 4)];
      return ["", [escape(name) + note, ...numbers]];
    });
    const ends = [fixed(result.sum, 4), signed(total(result.change), 4), fixed(total(result.settled), 4)];
    rows.push(["rk-total", ["sum", ...ends]]);
    const header = [["node", false], ["mass", true], ["change", true], ["settles at", true]];
    const table = grid(`Mass after step ${state.step}`, header, rows);
    return `<div class="rk-two">${graph(data, state, result)}${table}</div>`;
  }

  register("walk", { compute, summary, view });
})();
