"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // Tabs, as the ARIA authoring guide has them: one stop for Tab, arrows move, Home and End jump.
  const list = document.querySelector(".tablist");
  if (list) {
    const tabs = [...list.querySelectorAll("button")];
    const panels = tabs.map((tab) => byId(tab.getAttribute("aria-controls")));
    const show = (at, focus) => {
      tabs.forEach((tab, k) => {
        tab.setAttribute("aria-selected", String(k === at));
        tab.tabIndex = k === at ? 0 : -1;
        panels[k].hidden = k !== at;
      });
      if (focus) tabs[at].focus();
    };
    list.setAttribute("role", "tablist");
    tabs.forEach((tab, k) => {
      tab.setAttribute("role", "tab");
      panels[k].setAttribute("role", "tabpanel");
      panels[k].setAttribute("aria-labelledby", tab.id);
      tab.addEventListener("click", () => show(k, false));
      tab.addEventListener("keydown", (event) => {
        const to = { ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: tabs.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        show((to + tabs.length) % tabs.length, true);
      });
    });
    list.hidden = false;
    show(0, false);
  }

  // A link to a folded table unfolds it; paper has no folds.
  const unfold = () => {
    const target = location.hash.length > 1 && byId(decodeURIComponent(location.hash.slice(1)));
    for (let up = target; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
  unfold();

  // Boxes wider than the screen say so.
  const cues = [...document.querySelectorAll(".scroll, .chart")].map((box) => {
    const cue = document.createElement("p");
    cue.className = "sideways";
    cue.textContent = "Wider than the screen: scroll sideways \u2192";
    box.before(cue);
    return [box, cue];
  });
  const sideways = () => cues.forEach(([box, cue]) => cue.classList.toggle("on", box.scrollWidth > box.clientWidth + 4));
  if (typeof ResizeObserver !== "undefined") {
    const watch = new ResizeObserver(sideways);
    cues.forEach(([box]) => watch.observe(box));
  }
  sideways();

  // The hint beside the pointer. Names come from strangers: they are only ever text.
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.setAttribute("role", "tooltip");
  document.body.append(tip);
  const hint = (_handler, event, _item, value) => {
    tip.replaceChildren();
    const empty = value === null || value === undefined || value === "";
    tip.classList.toggle("on", !empty);
    if (empty) return;
    const rows = typeof value === "object" ? Object.entries(value) : [["", value]];
    for (const [name, text] of rows) {
      const row = document.createElement("div");
      const key = document.createElement("b");
      const cell = document.createElement("span");
      key.textContent = name;
      cell.textContent = String(text);
      cell.dir = "auto";
      row.append(key, cell);
      tip.append(row);
    }
    const box = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, innerWidth - box.width - 8);
    const top = event.clientY + 16 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 16;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, top)}px`;
  };
  addEventListener("scroll", () => tip.classList.remove("on"), { passive: true });

  // The charts: unpack the runtime and the specifications, then draw what is in sight first.
  const unpack = async (id) => {
    const packed = Uint8Array.from(atob(byId(id).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  };
  const draw = async () => {
    const boxes = [...document.querySelectorAll("[data-chart]")];
    if (!boxes.length) return;
    const [script, specs] = await Promise.all([unpack("vega"), unpack("charts").then(JSON.parse)]);
    const element = document.createElement("script");
    element.textContent = script;
    document.head.append(element);
    const options = { actions: false, ast: true, renderer: "svg", defaultStyle: false, tooltip: hint };
    for (const box of boxes) {
      await window.vegaEmbed(box, specs[box.dataset.chart], options);
      box.dataset.drawn = "";
      await new Promise((next) => setTimeout(next));
    }
  };
  const root = document.documentElement;
  draw().then(
    () => {
      sideways(); // at once: the observer tells with the next frame
      root.dataset.charts = "drawn";
    },
    (error) => {
      const old = typeof DecompressionStream === "undefined";
      const say = byId("chart-trouble");
      say.textContent = old
        ? "This browser is too old for the charts. Every number they show is in the tables below."
        : `The charts could not be drawn (${error.message}). Every number they show is in the tables below.`;
      say.hidden = false;
      root.dataset.charts = "failed";
    },
  );
})();
