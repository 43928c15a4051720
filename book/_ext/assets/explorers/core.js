/* What every explorer of the book shares: controls, and text and markup exactly as ragkit/explore/markup.py makes them.

   A page holds <div class="rk-explorer" data-kind data-input> with the state at the start as plain markup. A kind is
   three pure functions (compute, summary, view), registered by the file of its name; Python has the same three, and a
   test compares what both give. Plain scripts and no modules, so that a page opened from a file works. */
(function () {
  "use strict";

  const COLOURS = ["#0072B2", "#D55E00", "#009E73"];
  const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };

  const escape = (text) => String(text).replace(/[&<>"']/g, (sign) => ESCAPES[sign]);

  function fixed(value, digits) {
    const text = value.toFixed(digits);
    return Number(text) === 0 ? text.replace("-", "") : text;
  }

  const count = (value) => fixed(value, 0).replace(/\B(?=(\d{3})+$)/g, ",");

  function money(value) {
    if (value >= 100) return "$" + count(value);
    for (const [least, digits] of [[0.1, 2], [0.01, 3], [0.001, 4], [0.0001, 5]])
      if (value >= least || value === 0) return "$" + fixed(value, digits);
    return "$" + fixed(value, 6);
  }

  function signed(value, digits) {
    const text = fixed(Math.abs(value), digits);
    if (Number(text) === 0) return text;
    return (value > 0 ? "+" : "−") + text;
  }

  const share = (part, whole) => (whole ? fixed((100 * part) / whole, 0) + "%" : "–");

  /* The sum rounded once (Shewchuk, 1997), as Python's math.fsum: equal ranks give equal scores in any order. */
  function fsum(values) {
    const parts = [];
    for (let x of values) {
      let kept = 0;
      for (let y of parts) {
        if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x];
        const high = x + y, low = y - (high - x);
        if (low) parts[kept++] = low;
        x = high;
      }
      parts.length = kept;
      parts.push(x);
    }
    let n = parts.length, high = 0, low = 0;
    if (n) high = parts[--n];
    while (n) {
      const x = high, y = parts[--n];
      high = x + y;
      low = y - (high - x);
      if (low) break;
    }
    if (n && ((low < 0 && parts[n - 1] < 0) || (low > 0 && parts[n - 1] > 0))) {
      const twice = low * 2, x = high + twice;
      if (twice === x - high) high = x;
    }
    return high;
  }

  const swatch = (series) =>
    '<svg class="rk-swatch" width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">' +
    `<rect width="10" height="10" class="rk-s${series}" fill="${COLOURS[series]}"/></svg> `;

  const named = (series, name) => `<span class="rk-named">${swatch(series)}${escape(name)}</span>`;

  const path = (id) => escape(id).replaceAll("/", "/<wbr>");

  function bar(parts, top) {
    let shapes = "", x = 0;
    parts.forEach((part, series) => {
      const width = top > 0 ? (100 * part) / top : 0;
      if (width > 0)
        shapes +=
          `<rect x="${fixed(x, 1)}" width="${fixed(width, 1)}" height="8" class="rk-s${series}" ` +
          `fill="${COLOURS[series]}"/>`;
      x += width;
    });
    return `<svg class="rk-bar" width="100" height="8" viewBox="0 0 100 8" aria-hidden="true">${shapes}</svg>`;
  }

  const right = (numeric) => (numeric ? ' class="rk-num"' : "");

  function grid(caption, header, rows) {
    const name = escape(caption);
    const head = header.map(([cell, numeric]) => `<th scope="col"${right(numeric)}>${cell}</th>`).join("");
    let body = "";
    for (const [look, cells] of rows) {
      const rest = cells.slice(1).map((cell, i) => `<td${right(header[i + 1][1])}>${cell}</td>`).join("");
      body += `<tr${look ? ` class=${look}` : ""}><th scope="row">${cells[0]}</th>${rest}</tr>`;
    }
    return (
      `<div class="rk-table"><div class="rk-scroll" role="region" tabindex="0" aria-label="${name}">` +
      `<table><caption><span>${name}</span></caption><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>` +
      "</div></div>"
    );
  }

  const drawing = (width, height, words, shapes) =>
    `<svg class="rk-drawing" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(words)}" ` +
    `font-size="13" style="max-width:${Math.floor((width * 6) / 5)}px;width:100%;height:auto">${shapes}</svg>`;

  const label = (x, y, text, anchor = "middle", look = "") =>
    `<text x="${fixed(x, 1)}" y="${fixed(y, 1)}" text-anchor="${anchor}" fill="currentColor"` +
    `${look ? ` class="${look}"` : ""}>${escape(text)}</text>`;

  function line(x1, y1, x2, y2, look, stroke, width = 1, dash = "") {
    const dashes = dash ? ` stroke-dasharray="${dash}"` : "";
    const ends = `x1="${fixed(x1, 1)}" y1="${fixed(y1, 1)}" x2="${fixed(x2, 1)}" y2="${fixed(y2, 1)}"`;
    return `<line ${ends} class="${look}" stroke="${stroke}" stroke-width="${fixed(width, 1)}"${dashes}/>`;
  }

  /* Controls: native elements with labels. Each calls changed() and keeps the position of its value in state.at. */

  function element(tag, attributes = {}, ...inside) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...inside);
    return made;
  }

  let made = 0;

  function slider(control, at, changed) {
    const id = `rk-control-${++made}`;
    const range = element("input", { type: "range", id, min: 0, max: control.values.length - 1, step: 1 });
    const shown = element("span", { class: "rk-value", "aria-hidden": "true" });
    const say = () => {
      shown.textContent = control.texts[at[control.name]];
      range.setAttribute("aria-valuetext", shown.textContent);
    };
    range.value = at[control.name];
    say();
    const set = (position) => {
      at[control.name] = position;
      range.value = position;
      say();
      changed();
    };
    range.addEventListener("input", () => set(Number(range.value)));
    const box = element("div", { class: "rk-control" }, element("label", { for: id }, control.label), shown, range);
    if (control.kind === "stepper") {
      const buttons = element("div", { class: "rk-buttons" });
      for (const [words, by] of [["Step back", -1], ["Step on", 1]]) {
        const button = element("button", { type: "button" }, words);
        button.addEventListener("click", () =>
          set(Math.min(Math.max(at[control.name] + by, 0), control.values.length - 1)));
        buttons.append(button);
      }
      box.append(buttons);
    }
    return box;
  }

  function choice(control, at, changed) {
    const id = `rk-control-${++made}`;
    const select = element("select", { id });
    control.texts.forEach((text, i) => select.append(element("option", { value: i }, text)));
    select.value = at[control.name];
    select.addEventListener("change", () => {
      at[control.name] = Number(select.value);
      changed();
    });
    return element("div", { class: "rk-control" }, element("label", { for: id }, control.label), select);
  }

  function toggle(control, at, changed) {
    const box = element("input", { type: "checkbox" });
    box.checked = at[control.name] === 1;
    box.addEventListener("change", () => {
      at[control.name] = box.checked ? 1 : 0;
      changed();
    });
    return element("div", { class: "rk-control" }, element("label", { class: "rk-check" }, box, " " + control.label));
  }

  const PARTS = { slider, stepper: slider, choice, switch: toggle };

  function enliven(root, kind) {
    const { data, controls } = JSON.parse(root.dataset.input);
    const at = Object.fromEntries(controls.map((control) => [control.name, control.start]));
    const output = root.querySelector("output"), view = root.querySelector(".rk-view");
    const show = () => {
      const state = Object.fromEntries(controls.map((control) => [control.name, control.values[at[control.name]]]));
      const result = kind.compute(data, state);
      output.textContent = kind.summary(data, state, result);
      view.innerHTML = kind.view(data, state, result);
    };
    show(); // first of all: where it fails, the page stays as it was written
    const place = root.querySelector(".rk-controls");
    for (const control of controls) place.append(PARTS[control.kind](control, at, show));
    output.setAttribute("for", [...place.querySelectorAll("[id]")].map((part) => part.id).join(" "));
    root.querySelector(".rk-still").remove();
    root.classList.add("rk-live");
  }

  const kinds = {};
  window.ragkitExplorers = {
    kinds,
    register: (name, kind) => { kinds[name] = kind; },
    COLOURS, escape, fixed, count, money, signed, share, fsum, swatch, named, path, bar, grid, drawing, label, line,
  };

  /* The scripts of the kinds come after this one and before the page is ready, since all of them are deferred. */
  document.addEventListener("DOMContentLoaded", () => {
    for (const root of document.querySelectorAll(".rk-explorer[data-kind]")) enliven(root, kinds[root.dataset.kind]);
  });
})();
