// "Which command?": the rows of the page's own table, asked in two steps. Without scripts the table is there.
(() => {
  const place = document.getElementById("command-chooser");
  const table = document.querySelector("article table");
  if (!place || !table) return;
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
  const box = document.createElement("div");
  box.className = "chooser";
  place.append(box);

  const ask = (question, answers, chosen) => {
    const set = document.createElement("fieldset");
    const legend = document.createElement("legend");
    legend.textContent = question;
    set.append(legend);
    for (const answer of answers) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = answer;
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => {
        for (const other of set.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
        chosen(answer);
      });
      set.append(button);
    }
    return set;
  };

  const second = document.createElement("div");
  const result = document.createElement("output");
  const show = (row) => {
    const code = document.createElement("code");
    code.textContent = row[2];
    result.replaceChildren("Run ", code);
  };
  const first = ask("I have …", [...new Set(rows.map((row) => row[0]))], (have) => {
    const fitting = rows.filter((row) => row[0] === have);
    result.replaceChildren();
    second.replaceChildren(ask("and want …", fitting.map((row) => row[1]), (want) => show(fitting.find((row) => row[1] === want))));
    if (fitting.length === 1) {
      second.querySelector("button").click();
    }
  });
  box.append(first, second, result);
})();
