"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const KEY = "jurors key";
  const OFTEN = 2_000; // milliseconds between two looks at a project, however many votes come
  const KEYS = [..."1234567890"];
  let project = null; // the name of the one in sight
  let views = 0; // grows with every change of place: what an older place asked for is dropped
  const MOST_ALARMS = 5; // that are shown at once
  let marks = {}; // what is shown of the project, so that nothing is drawn twice

  // Names and texts come from strangers: they are only ever text.
  const element = (tag, text, name) => {
    const made = document.createElement(tag);
    if (text !== undefined && text !== null) made.textContent = text;
    if (name) made.className = name;
    return made;
  };
  const isolated = (text) => element("bdi", text);
  const cell = (tag, content, name) => {
    const made = element(tag, undefined, name);
    if (tag === "th") made.scope = "row";
    made.append(content ?? "");
    return made;
  };
  const line = (...cells) => {
    const made = element("tr");
    made.append(...cells);
    return made;
  };
  const times = (count, one) => `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;
  const percent = (share) => (share === null || share === undefined ? "–" : `${Math.round(100 * share)}%`);
  const between = (ends) => (ends ? `${Math.round(100 * ends[0])} – ${percent(ends[1])}` : "–");
  const when = (seconds) => (seconds ? new Date(1000 * seconds).toLocaleString() : "–");
  /** One sentence with its full stop; messages of the server have none. */
  const sentence = (text, reason) => `${(reason ? `${text}: ${reason}` : text).replace(/\.$/, "")}.`;
  const place = (name, rest) => `/v1/projects/${encodeURIComponent(name)}${rest ? `/${rest}` : ""}`;
  const trouble = (text) => {
    byId("trouble").textContent = text;
    byId("trouble").hidden = !text;
  };

  // -- asking the server ------------------------------------------------------------------------------------------
  class Refused extends Error {
    constructor(status, message) {
      super(message);
      this.status = status;
    }
  }
  const kept = () => sessionStorage.getItem(KEY);
  const ask = async (path, options = {}) => {
    const headers = { ...(kept() ? { Authorization: `Bearer ${kept()}` } : {}), ...options.headers };
    const answer = await fetch(path, { ...options, headers, cache: "no-store", credentials: "omit" });
    if (answer.ok) return answer;
    let message = `the server responded with status ${answer.status}`;
    try { message = (await answer.json()).error.message; } catch { /* no JSON: the status must do */ }
    throw new Refused(answer.status, message);
  };
  const get = async (path) => (await ask(path)).json();
  const post = (path, body) => ask(path, {
    method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
  });
  /** What cannot be shown yet (too few votes, say) is no trouble: its reason takes its place. */
  const orReason = async (path) => {
    try {
      return [await get(path), null];
    } catch (error) {
      if (error instanceof Refused && [404, 409, 422].includes(error.status)) return [null, error.message];
      throw error;
    }
  };

  // -- charts -----------------------------------------------------------------------------------------------------
  let runtime = null;
  const vega = () => {
    runtime ??= new Promise((ready, failed) => {
      const script = element("script");
      script.src = "/assets/vega.js";
      script.onload = ready;
      script.onerror = () => failed(new Error("the chart library could not be loaded"));
      document.head.append(script);
    });
    return runtime;
  };
  const tip = element("div");
  tip.id = "tip";
  tip.setAttribute("role", "tooltip");
  document.body.append(tip);
  const hint = (_handler, event, _item, value) => {
    tip.replaceChildren();
    const empty = value === null || value === undefined || value === "";
    tip.classList.toggle("on", !empty);
    if (empty) return;
    for (const [name, text] of typeof value === "object" ? Object.entries(value) : [["", value]]) {
      const row = element("div");
      row.append(element("b", name), isolated(String(text)));
      tip.append(row);
    }
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8))}px`;
    tip.style.top = `${Math.max(4, event.clientY + 16 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 16)}px`;
  };
  addEventListener("scroll", () => tip.classList.remove("on"), { passive: true });
  /** A chart's title as text of the page, where it wraps. */
  const caption = (box, title) => {
    const lines = [title?.subtitle ?? []].flat().map((text) => element("p", text, "note"));
    box.previousElementSibling.replaceChildren(...(title ? [element("h3", title.text), ...lines] : []));
  };
  const draw = async (view) => {
    for (const box of document.querySelectorAll("[data-chart]")) {
      const width = Math.max(200, Math.floor(box.clientWidth));
      const [spec, reason] = await orReason(place(project, `charts/${box.dataset.chart}?width=${width}`));
      if (view !== views) return;
      const { title, ...rest } = spec ?? {};
      caption(box, title);
      if (spec === null) {
        box.replaceChildren(element("p", reason, "note"));
        continue;
      }
      await vega();
      const options = { actions: false, ast: true, renderer: "svg", defaultStyle: false, tooltip: hint };
      await window.vegaEmbed(box, rest, options);
      box.dataset.drawn = "";
    }
  };

  // -- one project ------------------------------------------------------------------------------------------------
  const alarmLine = (alarm) => {
    const made = element("li", undefined, alarm.level);
    const message = element("p");
    message.append(element("span", alarm.level, "level"), isolated(alarm.message));
    made.append(message);
    const facts = [];
    if (alarm.since_time) facts.push(`began ${when(alarm.since_time)}`);
    if (alarm.raised !== undefined) facts.push(`raised at item ${alarm.raised.toLocaleString("en")}`);
    if (alarm.block > 1) facts.push(`${alarm.block.toLocaleString("en")} items counted as one`);
    if (alarm.cleared !== undefined && alarm.cleared !== null) facts.push(`cleared at item ${alarm.cleared.toLocaleString("en")}`);
    for (const entry of alarm.history ?? []) facts.push(`${entry.event}${entry.by ? ` by ${entry.by}` : ""}${entry.note ? `: ${entry.note}` : ""}`);
    if (facts.length) made.append(element("p", facts.join(" · "), "note"));
    if (alarm.advice && alarm.active !== false) made.append(element("p", sentence(alarm.advice), "note"));
    if (alarm.active && alarm.id) made.append(...alarmForm(alarm));
    return made;
  };
  const graded = new Map(); // alarm -> the grades since its change, once they were asked for
  const alarmForm = (alarm) => {
    const row = element("div", undefined, "row");
    const more = element("details", undefined, "more");
    more.addEventListener("toggle", () => { if (!more.open) marks = {}; }); // show what came while it was open
    const button = (text, title, act) => {
      const made = element("button", text, "small");
      made.type = "button";
      made.title = title;
      made.addEventListener("click", async () => {
        made.disabled = true;
        try {
          await act();
          trouble("");
          more.open = false;
          marks = {};
          await look(views);
        } catch (error) {
          trouble(sentence("The alarm is as it was", error.message));
        }
        made.disabled = false;
      });
      return made;
    };
    const field = (name, value) => {
      const made = element("label", name);
      const input = element("input");
      input.value = value;
      made.append(input);
      return [made, input];
    };
    const [noteField, note] = field("Note", "");
    const [untilField, until] = field("Snooze for items (500) or time (2h)", "500");
    const handle = (action, rest) => post(place(project, `alarms/${alarm.id}`), { action, note: note.value || null, ...rest });
    const snooze = () => handle("snooze", { until: /^\d+$/.test(until.value) ? Number(until.value) : until.value });
    if (alarm.pending) row.append(button("Acknowledge", "You take care of it", () => handle("acknowledge")));
    row.append(button("Grades since then", "Grade the items since the change alone", async () => {
      const [grade, reason] = await orReason(place(project, `grade?since=${alarm.id}&partition=false`));
      const scores = Object.entries(grade?.score ?? {}).map(([juror, score]) => `${juror} ${percent(score)}`);
      graded.set(alarm.id, grade === null ? sentence("No grades", reason) : `Since the change: ${scores.join(", ") || "no scores"}`);
    }));
    more.append(element("summary", "Snooze, accept or retire"), noteField, untilField,
      button("Snooze", "Put it aside", snooze),
      button("Accept", "The change is the new normal: clear the alarm and start again from here", () => handle("accept")));
    if (alarm.jurors.length) {
      const [heirField, heir] = field("Replaced by (optional)", "");
      more.append(heirField, ...alarm.jurors.map((juror) => button(`Retire ${juror}`, "It stopped on purpose: watch it no longer",
        () => post(place(project, "retired"), { juror, replaced_by: heir.value.trim() || null }))));
    }
    return [row, more, ...(graded.has(alarm.id) ? [element("p", graded.get(alarm.id), "note")] : [])];
  };
  const LEVELS = ["alarm", "warning", "note"];
  const showAlarms = ({ alarms, alpha, block, dependence }, about) => {
    if (byId("alarm-section").querySelector("details.more[open]")) return; // somebody is handling an alarm
    const active = alarms.filter((alarm) => alarm.active).sort((one, other) =>
      other.pending - one.pending || LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level));
    const pending = active.filter((alarm) => alarm.pending);
    const past = alarms.filter((alarm) => !alarm.active);
    const loud = pending.some((alarm) => alarm.level === "alarm") ? "alarm" : pending.some((alarm) => alarm.level === "warning") ? "warning" : "quiet";
    const handled = active.length - pending.length;
    const title = active.length ? `${times(active.length, "active alarm")}${handled ? `, ${handled} handled` : ""}` : "No active alarms";
    const before = byId("alarm-title").textContent;
    byId("alarm-section").className = `verdict ${loud}`;
    byId("alarm-title").textContent = title;
    byId("alarms").replaceChildren(...active.slice(0, MOST_ALARMS).map(alarmLine));
    byId("more").hidden = active.length <= MOST_ALARMS;
    byId("more-title").textContent = times(active.length - MOST_ALARMS, "more active alarm");
    byId("more-alarms").replaceChildren(...active.slice(MOST_ALARMS).map(alarmLine));
    byId("past").hidden = !past.length;
    byId("past-title").textContent = times(past.length, "past alarm");
    byId("past-alarms").replaceChildren(...past.map(alarmLine));
    const most = Math.max(1, ...Object.values(dependence));
    const stated = block === "auto" ? `independent items${most > 1 ? `; here, up to ${most.toLocaleString("en")} items count as one` : ""}`
      : `independent blocks of ${block}${/^\d+$/.test(block) ? " items" : ""}`;
    byId("rate").textContent = `A stable stream raises any alarm with a probability of at most ${percent(alpha)}. This assumes ${stated}.`;
    byId("reading").hidden = !about.length;
    byId("reading-title").textContent = `${times(about.length, "remark")} about the grades of all votes`;
    byId("reading-alarms").replaceChildren(...about.map(alarmLine));
    if (before && before !== title) byId("say").textContent = title;
    document.title = `${pending.length ? `(${pending.length}) ` : ""}${project} – jurors`;
  };
  const showGrades = (grade, reason, { alarms, retired }) => {
    byId("report").href = place(project, "report");
    byId("report").hidden = grade === null || kept() !== null; // a link cannot carry the key
    if (grade === null) {
      byId("grades-note").textContent = sentence("No grades yet", reason);
      byId("grade-rows").replaceChildren();
      return;
    }
    byId("interval-head").textContent = `${Math.round(100 * (grade.interval?.level ?? 0.95))}% interval`;
    const wrong = grade.wrong_labels === null ? "" : ` About ${percent(grade.wrong_labels)} of the best labels are wrong.`;
    byId("grades-note").textContent = (grade.errors === "real"
      ? "The share of items on which each juror is right, calibrated for shared errors."
      : "The share of items on which each juror is right if errors are independent.") + wrong;
    const scores = grade.score ?? {};
    const order = [...grade.jurors].sort((a, b) => (scores[b] ?? -1) - (scores[a] ?? -1));
    byId("grade-rows").replaceChildren(...order.map((juror) => {
      const name = cell("th", isolated(juror));
      if (retired.includes(juror)) name.append(" ", element("span", "retired", "tag"));
      const tags = {}; // one for each kind
      for (const { kind, level } of alarms.filter((alarm) => alarm.active && alarm.jurors?.includes(juror))) {
        tags[kind] = { level: tags[kind]?.level === "alarm" ? "alarm" : level, count: (tags[kind]?.count ?? 0) + 1 };
      }
      for (const [kind, { level, count }] of Object.entries(tags)) {
        name.append(" ", element("span", `${kind.replaceAll("_", " ")}${count > 1 ? ` × ${count}` : ""}`, `tag ${level}`));
      }
      return line(name, cell("td", percent(scores[juror]), "n strong-number"),
        cell("td", between(grade.interval?.score?.[juror]), "n"),
        cell("td", grade.votes[juror]?.toLocaleString("en"), "n"));
    }));
  };
  const showHistory = (history, reason) => {
    const windows = history?.windows ?? [];
    byId("history-note").textContent = windows.length ? "" : sentence("No windows yet", reason);
    byId("history-note").hidden = windows.length > 0;
    const jurors = [...new Set(windows.flatMap((one) => Object.keys(one.score ?? {})))];
    const head = line(...["End", "Items", ...jurors].map((name) => element("th", name)));
    byId("history-head").replaceChildren(head);
    byId("history-rows").replaceChildren(...windows.map((one) => line(
      cell("th", history.by_time ? when(one.end) : Number(one.end).toLocaleString("en")), cell("td", String(one.items), "n"),
      ...(one.refused ? [cell("td", one.refused)] : jurors.map((juror) => cell("td", percent(one.score[juror]), "n"))))));
  };
  const look = async (view) => {
    const name = project;
    const shown = marks; // what somebody does meanwhile replaces it: then what was requested before is dropped
    const about = await get(place(name));
    if (view !== views) return;
    const labels = about.labels.length ? `; labels ${about.labels.map(String).join(", ")}` : "";
    byId("about").textContent = `${times(about.items, "item")}, ${times(about.votes, "vote")}, ${times(about.jurors, "juror")}${labels}; last vote ${when(about.updated)}`;
    byId("quarantine").hidden = !about.quarantined;
    byId("quarantine").textContent = `${times(about.quarantined, "vote")} can't be counted and ${about.quarantined === 1 ? "is" : "are"} in quarantine. Run jurors store quarantine to see why, and to replay or drop them.`;
    const mark = JSON.stringify([about.items, about.votes, about.updated, about.alarms, about.quarantined]);
    if (mark === shown.project) return;
    const [[grade, reason], alarms, [history, noHistory]] = await Promise.all([
      orReason(place(name, "grade?max_age=2&partition=false")), get(place(name, "alarms")), orReason(place(name, "history")),
    ]);
    if (view !== views || shown !== marks) return;
    showAlarms(alarms, grade?.alarms ?? []);
    showGrades(grade, reason, alarms);
    showHistory(history, noHistory);
    await draw(view);
    if (view !== views) return;
    shown.project = mark;
    if (byId("item").hidden) await fillDesk(view);
    document.documentElement.dataset.shown = mark;
  };

  // -- the desk where a person labels -------------------------------------------------------------------------------
  let queue = [];
  let labels = [];
  let skipped = new Set(); // labelled or passed over since this project came in sight
  const fillDesk = async (view) => {
    const [review, reason] = await orReason(place(project, "review?limit=20"));
    if (view !== views) return;
    queue = (review?.items ?? []).filter((one) => !skipped.has(one.item));
    labels = review?.labels ?? [];
    showItem(reason);
  };
  const showItem = (reason) => {
    const one = queue[0];
    byId("item").hidden = byId("desk-keys").hidden = !one;
    byId("desk-note").textContent = one
      ? `${times(queue.length, "item")} whose labels are least likely to be right. A label that you give here is a gold label. In grading, it may count for less than that of an item drawn at random.`
      : sentence("No items to review", reason);
    if (!one) return;
    byId("item-name").replaceChildren(isolated(one.item));
    byId("item-votes").replaceChildren(...Object.entries(one.votes ?? {}).map(([juror, vote]) => line(
      cell("th", isolated(juror)), cell("td", isolated(vote === null ? "–" : String(vote))))));
    const free = KEYS.filter((key) => !labels.map(String).includes(key));
    byId("choices").replaceChildren(...labels.map((label) => {
      const button = element("button");
      button.type = "button";
      const key = KEYS.includes(String(label)) ? String(label) : free.shift(); // the key of a digit is the digit
      if (key) {
        button.dataset.key = key;
        button.append(element("kbd", key), " ");
      }
      button.append(isolated(String(label)));
      button.addEventListener("click", () => choose(label));
      return button;
    }));
  };
  const next = async () => {
    queue.shift();
    if (queue.length) showItem(null);
    else await fillDesk(views);
    if (queue.length) byId("item").focus({ preventScroll: true });
  };
  const choose = async (label) => {
    const one = queue[0];
    byId("choices").querySelectorAll("button").forEach((button) => { button.disabled = true; });
    try {
      await post(place(project, "gold"), { gold: [{ item: one.item, label }] });
      byId("say").textContent = `${one.item}: ${label}.`;
      skipped.add(one.item);
      marks = {};
      await next();
    } catch (error) {
      trouble(sentence("The label was not saved", error.message));
      byId("choices").querySelectorAll("button").forEach((button) => { button.disabled = false; });
    }
  };
  byId("skip-item").addEventListener("click", () => {
    if (!queue.length) return;
    skipped.add(queue[0].item);
    next();
  });
  byId("desk").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const button = [...byId("choices").children].find((one) => one.dataset.key === event.key);
    if (event.key === "ArrowRight") byId("skip-item").click();
    else if (button) button.click();
    else return;
    event.preventDefault();
  });

  // -- all projects -------------------------------------------------------------------------------------------------
  const showProjects = async (view) => {
    const { projects } = await get("/v1/projects");
    if (view !== views) return;
    byId("no-projects").hidden = projects.length > 0;
    byId("project-rows").replaceChildren(...projects.map((one) => {
      const link = element("a");
      link.href = `#/${encodeURIComponent(one.name)}`;
      link.append(isolated(one.name));
      const tag = element("span", one.alarms ? times(one.alarms, "alarm") : "none", `tag ${one.alarms ? "alarm" : "quiet"}`);
      const state = cell("td", tag);
      if (one.quarantined) state.append(" ", element("span", `${times(one.quarantined, "vote")} in quarantine`, "tag warning"));
      return line(cell("th", link), state, cell("td", one.items.toLocaleString("en"), "n"),
        cell("td", one.votes.toLocaleString("en"), "n"), cell("td", String(one.jurors), "n"), cell("td", when(one.updated)));
    }));
    document.documentElement.dataset.shown = "projects";
  };

  // -- the place, and staying up to date ----------------------------------------------------------------------------
  const live = (state, text) => {
    byId("live").className = `live ${state}`;
    byId("live").textContent = text;
  };
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const refresh = async (view) => {
    await (project === null ? showProjects(view) : look(view));
    if (view !== views) return;
    trouble("");
    live("on", "live");
  };
  const follow = async (view) => {
    while (view === views) {
      try {
        await refresh(view);
      } catch (error) {
        if (view !== views) break;
        if (error.status === 401 || error.status === 403) { askKey(error.message); break; }
        live("off", "not connected");
        trouble(error.status === 404 ? sentence(error.message) : `${sentence("The request failed", error.message)} Retrying.`);
      }
      byId("main").ariaBusy = "false";
      await pause(2 * OFTEN);
      while (document.hidden && view === views) await pause(OFTEN);
    }
  };
  const askKey = (reason) => {
    byId("projects").hidden = byId("project").hidden = true;
    byId("key-form").hidden = false;
    byId("main").ariaBusy = "false";
    live("off", "API key required");
    trouble(kept() ? sentence(reason) : "");
    byId("key").focus();
  };
  const go = () => {
    views += 1;
    marks = {};
    queue = [];
    skipped = new Set();
    graded.clear();
    let name = "";
    try { name = decodeURIComponent(location.hash.replace(/^#\/?/, "")); } catch { /* no name of a project */ }
    project = name || null;
    trouble("");
    byId("key-form").hidden = true;
    byId("key-button").hidden = kept() === null;
    byId("projects").hidden = project !== null;
    byId("project").hidden = project === null;
    byId("crumb").replaceChildren(...(project === null ? [] : [" / ", isolated(project)]));
    byId("name").textContent = project ?? "";
    byId("item").hidden = byId("desk-keys").hidden = true;
    byId("alarm-title").textContent = byId("about").textContent = byId("announced").textContent = "";
    document.querySelectorAll("[data-chart]").forEach((box) => { box.replaceChildren(); box.previousElementSibling.replaceChildren(); delete box.dataset.drawn; });
    document.title = project === null ? "jurors" : `${project} – jurors`;
    delete document.documentElement.dataset.shown;
    follow(views);
  };
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem(KEY, byId("key").value.trim());
    byId("key").value = "";
    go();
  });
  byId("announce").addEventListener("submit", async (event) => {
    event.preventDefault();
    byId("announced").textContent = "";
    try {
      await post(place(project, "announced"), { juror: byId("newcomer").value.trim() });
      trouble("");
      byId("announced").textContent = `${byId("newcomer").value.trim()} is announced.`;
      byId("newcomer").value = "";
      marks = {};
    } catch (error) {
      trouble(sentence("The juror was not announced", error.message));
    }
  });
  byId("key-button").addEventListener("click", () => {
    views += 1;
    sessionStorage.removeItem(KEY);
    byId("key-button").hidden = true;
    askKey("");
  });
  addEventListener("hashchange", () => { if (location.hash !== "#main") { go(); byId("main").focus({ preventScroll: true }); } });
  go();
})();
