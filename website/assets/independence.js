// "What independence means": the accuracy that agreement claims, against the true one, as the page's formula has it.
(() => {
  const place = document.getElementById("independence");
  if (!place) return;
  const claimed = (a, c) => (1 + Math.sqrt(c + (1 - c) * (2 * a - 1) ** 2)) / 2;
  const percent = (share) => `${(100 * share).toFixed(1)}%`;
  const [widest, height, left, bottom, top, right] = [560, 260, 52, 40, 14, 14];
  let width = widest; // as many of its own units as pixels, so that letters stay as large on a phone
  const x = (c) => left + (c / 0.6) * (width - left - right);
  const y = (share) => top + ((1 - share) / 0.5) * (height - top - bottom);
  const svg = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  const box = document.createElement("div");
  box.className = "independence";
  const slider = (text, least, most, start) => {
    const label = document.createElement("label");
    const shown = document.createElement("b");
    const input = Object.assign(document.createElement("input"), { type: "range", min: least, max: most, step: 1, value: start });
    label.append(`${text}: `, shown, input);
    box.append(label);
    return { input, shown };
  };
  const accuracy = slider("True accuracy of each juror", 55, 95, 80);
  const shared = slider("Items with a common answer", 0, 60, 20);
  const chart = svg("svg", { role: "img" });
  const said = Object.assign(document.createElement("p"), { className: "said" });
  said.setAttribute("aria-live", "polite");
  box.append(chart, said);
  place.append(box);

  const draw = () => {
    width = Math.min(widest, chart.clientWidth || widest);
    chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const [a, c] = [accuracy.input.value / 100, shared.input.value / 100];
    accuracy.shown.textContent = `${accuracy.input.value}%`;
    shared.shown.textContent = `${shared.input.value}%`;
    const grey = { stroke: "currentColor", "stroke-opacity": 0.18 };
    const small = { "font-size": 12, fill: "currentColor" };
    const parts = [];
    for (const share of [0.5, 0.6, 0.7, 0.8, 0.9, 1]) {
      parts.push(svg("line", { x1: left, x2: width - right, y1: y(share), y2: y(share), ...grey }));
      parts.push(svg("text", { x: left - 8, y: y(share) + 4, "text-anchor": "end", ...small }, `${Math.round(100 * share)}%`));
    }
    for (const at of [0, 0.2, 0.4, 0.6]) {
      parts.push(svg("text", { x: x(at), y: height - bottom + 18, "text-anchor": "middle", ...small }, `${Math.round(100 * at)}%`));
    }
    parts.push(svg("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle", ...small }, "items with a common answer"));
    const line = [...Array(61).keys()].map((k) => `${k ? "L" : "M"}${x(k / 100)},${y(claimed(a, k / 100))}`).join("");
    parts.push(svg("path", { d: line, fill: "none", stroke: "var(--claimed)", "stroke-width": 2.5 }));
    parts.push(svg("line", { x1: left, x2: width - right, y1: y(a), y2: y(a), stroke: "var(--true)", "stroke-width": 2.5 }));
    parts.push(svg("line", { x1: x(c), x2: x(c), y1: y(a), y2: y(claimed(a, c)), stroke: "currentColor", "stroke-dasharray": "4 3" }));
    parts.push(svg("circle", { cx: x(c), cy: y(claimed(a, c)), r: 6, fill: "var(--claimed)" }));
    parts.push(svg("circle", { cx: x(c), cy: y(a), r: 6, fill: "var(--true)" }));
    parts.push(svg("text", { x: width - right, y: y(claimed(a, 0.6)) - 8, "text-anchor": "end", ...small, fill: "var(--claimed)" }, "estimated from agreement"));
    parts.push(svg("text", { x: width - right, y: y(a) + 16, "text-anchor": "end", ...small, fill: "var(--true)" }, "true"));
    chart.replaceChildren(...parts);
    const agree = c + (1 - c) * (a * a + (1 - a) * (1 - a));
    said.textContent = `Two jurors agree on ${percent(agree)} of the items. Taken for independent they look ${percent(claimed(a, c))} accurate; they are ${percent(a)}.`;
    chart.setAttribute("aria-label", said.textContent);
  };
  accuracy.input.addEventListener("input", draw);
  shared.input.addEventListener("input", draw);
  window.addEventListener("resize", draw);
  draw();
})();
