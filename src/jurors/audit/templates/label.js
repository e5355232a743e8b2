"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const sheet = JSON.parse(byId("sheet").textContent);
  const rows = sheet.rows;
  const KEYS = sheet.keys; // of the labels; empty where there is none
  const COLUMNS = ["draw", "of", "item", "label", "chance", "seed", "drawn_from"];
  const labels = rows.map(() => null); // what the person said, as the text of a label
  let at = 0; // the item in sight; rows.length: the end
  let unsaved = false;
  let keeps = true; // whether this browser keeps what was done when it is closed

  // Names and texts come from strangers: they are only ever text.
  const element = (tag, text, name) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (name) made.className = name;
    return made;
  };
  const times = (count, one) => `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;
  const labelled = () => labels.filter((label) => label !== null).length;
  const firstOpen = (from) => labels.findIndex((label, k) => k >= from && label === null);
  const trouble = (text) => {
    byId("trouble").textContent = text;
    byId("trouble").hidden = !text;
  };

  // -- what survives a reload -------------------------------------------------------------------------------------
  // Twice: the tab's own store survives a reload, the other a browser that is closed, too. Chromium refuses the latter to
  // a page that asks before the browser has taken note of it: it reads as empty, and what is put there goes nowhere, without
  // an error, as long as the page lives. So nothing is asked for before the browser has answered the page something else.
  const noted = () => Promise.race([navigator.locks?.query(), new Promise((go) => setTimeout(go, 10_000))]).catch(() => {});
  const STORES = [() => sessionStorage, () => localStorage];
  const tried = (does) => {
    try {
      return does();
    } catch {
      keeps = false;
      return null;
    }
  };
  const keep = () => {
    const state = JSON.stringify({ at, labels, unsaved, when: Date.now() });
    STORES.forEach((store) => tried(() => store().setItem(sheet.key, state)));
  };
  const recall = () => {
    const [here, ever] = STORES.map((store) => tried(() => JSON.parse(store().getItem(sheet.key))));
    const lost = here !== null && !(ever?.when >= here.when); // what was put into the other went nowhere
    const kept = lost ? here : ever;
    if (!Array.isArray(kept?.labels)) return;
    rows.forEach((_, k) => { if (sheet.labels.includes(kept.labels[k])) labels[k] = kept.labels[k]; });
    if (Number.isInteger(kept.at) && kept.at >= 0 && kept.at <= rows.length) at = kept.at;
    unsaved = kept.unsaved === true;
    if (!lost) return;
    keep();
    keeps = false; // nobody should rely on it
  };

  // -- what is in sight -------------------------------------------------------------------------------------------
  const choices = sheet.labels.map((label, k) => {
    const button = element("button");
    button.type = "button";
    if (KEYS[k]) button.append(element("kbd", KEYS[k]), " ");
    const name = element("bdi", label);
    button.append(name);
    if (sheet.words[k]) button.append(" ", element("bdi", sheet.words[k], "word"));
    if (KEYS[k]) button.setAttribute("aria-keyshortcuts", KEYS[k]);
    button.addEventListener("click", () => choose(k));
    byId("choices").append(button);
    return button;
  });
  const listed = rows.map((row, k) => {
    const line = element("li");
    const button = element("button");
    button.type = "button";
    const said = element("bdi", "", "said");
    button.append(element("span", String(row.draw), "number"), element("bdi", row.name, "which"), said);
    button.addEventListener("click", () => go(k));
    line.append(button);
    byId("list").append(line);
    return { button, said };
  });

  const showItem = () => {
    const row = rows[at];
    byId("place").textContent = `${at + 1} of ${rows.length}`;
    byId("name").textContent = row.name;
    byId("texts").replaceChildren();
    row.texts.forEach((text, k) => {
      if (!text) return;
      const shown = element("div", text, "text");
      shown.dir = "auto";
      byId("texts").append(...(sheet.texts.length > 1 ? [element("h3", sheet.texts[k])] : []), shown);
    });
    if (!row.texts.some(Boolean)) byId("texts").append(element("p", "The page has no text for this item: look it up by its name.", "note"));
    byId("votes").hidden = !row.votes.length;
    byId("votes").tBodies[0].replaceChildren(...row.votes.map(([juror, vote]) => {
      const line = element("tr");
      const name = element("th");
      const cell = element("td");
      name.scope = "row";
      name.append(element("bdi", juror));
      cell.append(element("bdi", vote ?? "–"));
      line.append(name, cell);
      return line;
    }));
  };
  const showEnd = () => {
    const open = rows.length - labelled();
    byId("end-title").textContent = open
      ? `The end: ${times(open, "item")} without a label.`
      : `All ${times(rows.length, "item")} are labelled.`;
    byId("first-open").hidden = !open;
  };
  const showCounts = () => {
    const count = labelled();
    byId("progress").max = rows.length;
    byId("progress").value = count;
    byId("count").textContent = `${count} of ${rows.length} labelled`;
    byId("save").disabled = byId("over").disabled = !count;
    const state = !count ? "Nothing is labelled yet."
      : unsaved ? "Some labels are not saved to a file yet." : "All labels are saved to a file.";
    byId("kept").textContent = keeps ? `${state} You can reload this page without losing labels.`
      : `${state} This browser may not keep your labels: save them before you close it.`;
    listed.forEach(({ button, said }, k) => {
      said.textContent = labels[k] ?? "";
      if (k === at) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
  };
  const show = () => {
    const ended = at === rows.length;
    byId("item").hidden = byId("choices").hidden = byId("clear").hidden = byId("next").hidden = ended;
    byId("end").hidden = !ended;
    byId("back").disabled = at === 0;
    if (ended) showEnd();
    else {
      showItem();
      choices.forEach((button, k) => button.setAttribute("aria-pressed", String(labels[at] === sheet.labels[k])));
      byId("clear").disabled = labels[at] === null;
      byId("next-word").textContent = labels[at] === null ? "Skip" : "Next";
    }
    showCounts();
  };
  const say = (said) => {
    const where = at === rows.length ? byId("end-title").textContent : `Item ${at + 1} of ${rows.length}.`;
    byId("say").textContent = `${said} ${where}`.trim();
  };

  // -- what the person does ---------------------------------------------------------------------------------------
  const go = (to, said = "") => {
    at = Math.max(0, Math.min(rows.length, to));
    trouble("");
    show();
    keep();
    say(said);
    const place = at === rows.length ? byId("end") : byId("item");
    if (!byId("desk").contains(document.activeElement) || at === rows.length) place.focus({ preventScroll: true });
    if (place.getBoundingClientRect().top < 0) place.scrollIntoView();
  };
  const choose = (k) => {
    if (at === rows.length || k >= sheet.labels.length) return;
    labels[at] = sheet.labels[k];
    unsaved = true;
    const open = firstOpen(at + 1);
    go(open < 0 ? rows.length : open, `${sheet.labels[k]}.`);
  };
  const clear = () => {
    if (at === rows.length || labels[at] === null) return;
    labels[at] = null;
    unsaved = true;
    go(at, "Label cleared.");
  };
  const KNOWN = {
    ArrowLeft: () => go(at - 1), Backspace: () => go(at - 1), ArrowRight: () => go(at + 1), Delete: clear,
  };
  addEventListener("keydown", (event) => {
    if (document.querySelector("main").hidden) return; // what was done before is not in sight yet
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input")) return;
    const k = KEYS.indexOf(event.key.toLowerCase());
    const does = KNOWN[event.key] ?? (k >= 0 ? () => choose(k) : null);
    if (does === null) return;
    event.preventDefault();
    if (!event.repeat || event.key.startsWith("Arrow")) does(); // a key held down labels one item only
  });
  byId("back").addEventListener("click", () => go(at - 1));
  byId("next").addEventListener("click", () => go(at + 1));
  byId("clear").addEventListener("click", clear);
  byId("first-open").addEventListener("click", () => go(firstOpen(0)));
  byId("over").addEventListener("click", () => {
    if (!confirm(`Forget ${times(labelled(), "label")} and start over?`)) return;
    labels.fill(null);
    unsaved = false;
    go(0, "Started over.");
  });

  // -- files ------------------------------------------------------------------------------------------------------
  const cell = (text) => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const labelCell = (label) => (label === null ? "" : sheet.cells[sheet.labels.indexOf(label)]);
  const csv = () => {
    const lines = rows.map((row, k) => [row.draw, row.of, row.cell, labelCell(labels[k]), row.chance, row.seed ?? "", sheet.checksum]);
    return [COLUMNS, ...lines].map((line) => `${line.map((one) => cell(String(one))).join(",")}\n`).join("");
  };
  byId("save").addEventListener("click", () => {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
    link.download = sheet.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    unsaved = false;
    showCounts();
    keep();
    byId("say").textContent = `${times(labelled(), "label")} saved as ${sheet.file}.`;
  });

  // Comma separated values as spreadsheets write them, too: other separators, quotes, a mark in front.
  const parse = (text) => {
    const body = text.replace(/^\ufeff/, "");
    const head = body.split(/[\r\n]/, 1)[0];
    const by = [",", ";", "\t"].sort((a, b) => head.split(b).length - head.split(a).length)[0];
    const table = [];
    let line = [];
    const pattern = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^"${by}\\r\\n]*))(${by}|\\r\\n|\\n|\\r|$)`, "y");
    while (pattern.lastIndex < body.length) {
      const match = pattern.exec(body);
      if (match === null) throw new Error(`line ${table.length + 1} has a quotation mark that is out of place`);
      line.push(match[1] === undefined ? match[2] : match[1].replaceAll('""', '"'));
      if (match[3] === by && pattern.lastIndex < body.length) continue;
      table.push(line);
      line = [];
    }
    return table.filter((cells) => cells.some((one) => one.trim()));
  };
  const read = (text) => {
    const [head, ...lines] = parse(text);
    const names = (head ?? []).map((name) => name.trim().toLowerCase());
    const place = Object.fromEntries(["draw", "item", "label", "drawn_from"].map((name) => [name, names.indexOf(name)]));
    const absent = Object.keys(place).find((name) => place[name] < 0);
    if (absent) throw new Error(`it is not a sheet of labels: the column "${absent}" is missing`);
    const known = new Map(rows.map((row, k) => [String(row.draw), k]));
    const given = [];
    lines.forEach((line, number) => {
      const [draw, item, label, sum] = Object.values(place).map((k) => (line[k] ?? "").trim());
      const where = `line ${number + 2}`;
      if (sum !== sheet.checksum) throw new Error(`${where}: it was drawn from other votes (${sum || "no checksum"})`);
      const k = known.get(draw.replace(/\.0$/, ""));
      if (k === undefined) return; // another batch of the same draw
      if (item !== rows[k].item.trim() && item !== rows[k].cell.trim()) throw new Error(`${where}: draw ${draw} is item "${item}" there, "${rows[k].item}" here`);
      const said = sheet.labels.find((one, j) => one.trim() === label || sheet.cells[j].trim() === label);
      if (label && said === undefined) throw new Error(`${where}: "${label}" is none of the labels ${sheet.labels.join(", ")}`);
      given.push([k, said ?? null]);
    });
    if (!given.length) throw new Error("none of its items is on this page");
    return given.filter(([, label]) => label !== null);
  };
  byId("load").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    byId("files").ariaBusy = "true";
    try {
      if (file.size > 50e6) throw new Error("it is too large to be a sheet of labels");
      const given = read(await file.text());
      const changed = given.filter(([k, label]) => labels[k] !== null && labels[k] !== label).length;
      given.forEach(([k, label]) => { labels[k] = label; });
      unsaved = labelled() > given.length;
      const open = firstOpen(0);
      go(open < 0 ? rows.length : open, `${times(given.length, "label")} read, ${changed} of them changed.`);
      byId("kept").textContent = `${times(given.length, "label")} read from ${file.name}${changed ? `; ${changed} replaced another label` : ""}.`;
    } catch (error) {
      trouble(`${file.name} cannot be read: ${error.message}.`);
      scrollTo(0, 0);
    }
    event.target.value = "";
    byId("files").ariaBusy = "false";
  });
  addEventListener("beforeunload", (event) => { if (!keeps && unsaved) event.preventDefault(); });

  noted().then(() => {
    recall();
    show();
    document.querySelector("main").hidden = false;
  });
})();
