"use strict";
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const byId = (id) => document.getElementById(id);
  const table = byId("matrix"), form = byId("filters"), dialog = byId("detail");
  const rows = [...table.querySelectorAll("tr[data-question]")];
  const rowOf = new Map(rows.map((row) => [Number(row.dataset.question), row]));
  const OUTCOMES = { w: "whole", p: "part", m: "missed", "-": "none" };
  const WORDS = { whole: "whole", part: "in part", missed: "missed", none: "–" };
  const state = { view: data.main, shown: [], open: null };

  // Numbers and words

  const number = (value) => Math.round(value).toLocaleString("en");
  const percent = (share) => {
    const value = share * 100;
    if (value >= 99.5 && value < 100) return "> 99 %";
    if (value > 0 && value < 0.5) return "< 1 %";
    return `${value.toFixed(0)} %`;
  };
  const outcome = (view, question, run) => {
    const kind = OUTCOMES[data.views_data[view].outcomes[question][run]];
    const share = data.views_data[view].shares[question][run];
    return [kind, kind === "part" && share !== null ? percent(share) : WORDS[kind]];
  };
  const failure = (result, view) => (result.failures[view] ?? (view === data.main ? result.failure : "")).replaceAll("-", " ");

  // Building elements; texts are set as text, so nothing in them is ever read as HTML

  const make = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === false || value == null) continue;
      if (key === "style") for (const [property, given] of Object.entries(value)) node.style.setProperty(property, given);
      else node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
    return node;
  };
  const bdi = (text) => make("bdi", { dir: "auto" }, text);
  const series = (run) => ({ "--series": `var(--series-${run % 8})` });

  // The matrix

  const paint = () => {
    const view = data.views_data[state.view];
    for (const body of table.tBodies) {
      const kind = body.dataset.group;
      const title = body.querySelector(".count");
      for (const place of view.order) {
        if (view.groups[place] === kind && rowOf.has(place)) body.append(rowOf.get(place));
      }
      title.textContent = String(view.groups.filter((each) => each === kind).length);
    }
    for (const [place, row] of rowOf) {
      [...row.cells].slice(1).forEach((cell, run) => {
        const [kind, text] = outcome(state.view, place, run);
        const result = data.questions[place].results[run];
        const why = result && kind !== "whole" ? failure(result, state.view) : "";
        cell.replaceChildren(
          make("span", { class: `outcome ${kind}` }, make("span", { class: /%/.test(text) ? null : "word" }, text)),
          ...(why ? [make("small", {}, why)] : []),
        );
      });
    }
  };

  const filter = () => {
    const chosen = (id) => (byId(id) ? byId(id).value : "");
    const words = byId("find").value.trim().toLocaleLowerCase();
    const view = data.views_data[state.view];
    state.shown = view.order.filter((place) => {
      const row = rowOf.get(place);
      const fits =
        (!words || row.cells[0].textContent.toLocaleLowerCase().includes(words)) &&
        (!chosen("by-group") || view.groups[place] === chosen("by-group")) &&
        (!chosen("by-type") || row.dataset.type === chosen("by-type")) &&
        (!chosen("by-tag") || (row.dataset.tags || "").split("\n").includes(chosen("by-tag"))) &&
        (!chosen("by-language") || row.dataset.language === chosen("by-language")) &&
        (!chosen("by-failure") || (row.dataset.failures || "").split(" ").includes(chosen("by-failure")));
      row.hidden = !fits;
      return fits;
    });
    for (const body of table.tBodies) {
      body.hidden = ![...body.querySelectorAll("tr[data-question]")].some((row) => !row.hidden);
    }
    const all = data.questions.length;
    byId("shown").textContent = state.shown.length === all ? `${all} shown` : `${state.shown.length} of ${all} shown`;
  };

  const setView = (view) => {
    state.view = view;
    if (byId("view")) byId("view").value = view;
    paint();
    filter();
  };

  // Pieces of texts. Places are counted in code points, strings of the browser are not

  const points = new Map();
  const slice = (piece, start, end) => {
    const [first, text] = piece;
    if (!/[\ud800-\udfff]/.test(text)) return text.slice(start - first, end - first);
    if (!points.has(piece)) points.set(piece, Array.from(text));
    return points.get(piece).slice(start - first, end - first).join("");
  };
  const lengthOf = (piece) => (slice(piece, piece[0], piece[0]), points.has(piece) ? points.get(piece).length : piece[1].length);

  /** The text of a range with the gold marked and cuts drawn; what is not kept is said. */
  const shown = (place, start, end, gold, cuts = []) => {
    const kept = (data.texts[place] || []).filter((piece) => piece[0] < end && piece[0] + lengthOf(piece) > start);
    if (!kept.length) return null;
    const out = [];
    let at = start;
    for (const piece of kept) {
      const from = Math.max(piece[0], start), to = Math.min(piece[0] + lengthOf(piece), end);
      if (from > at) out.push(make("span", { class: "gap" }, ` [${number(from - at)} characters] `));
      const edges = new Set([from, to]);
      for (const [a, b] of gold) for (const edge of [a, b]) if (edge > from && edge < to) edges.add(edge);
      for (const cut of cuts) if (cut.at > from && cut.at < to) edges.add(cut.at);
      const places = [...edges].sort((a, b) => a - b);
      places.slice(0, -1).forEach((a, index) => {
        for (const cut of cuts) {
          if (cut.at === a) out.push(make("span", { class: "cut", style: series(cut.run), title: `A chunk of ${cut.letter} begins here`, "aria-hidden": "true" }, data.runs.length > 1 ? cut.letter : ""));
        }
        const text = slice(piece, a, places[index + 1]);
        out.push(gold.some(([s, e]) => s <= a && a < e) ? make("mark", {}, text) : text);
      });
      at = to;
    }
    if (at < end) out.push(make("span", { class: "gap" }, ` [${number(end - at)} characters]`));
    return out;
  };

  /** A range that begins and ends between words, if there is a border near. */
  const atWords = (place, start, end, length) => {
    const piece = (at) => (data.texts[place] || []).find((each) => each[0] <= at && at < each[0] + lengthOf(each));
    const before = start > 0 && piece(start), after = end < length && piece(end - 1);
    const head = before ? slice(before, start, start + 40).search(/\s/) : -1;
    const tail = after ? slice(after, end - 40, end).split("").reverse().join("").search(/\s/) : -1;
    return [head < 0 ? start : start + head + 1, tail < 0 ? end : end - tail - 1];
  };

  // One question

  const goldIn = (question, place) => question.gold.filter(([document]) => document === place).map(([, start, end]) => [start, end]);

  /** How much of the answer a passage holds; of the best span where each alone answers. */
  const held = (question, [place, start, end]) => {
    const spans = question.gold.map(([document, a, b]) => [document === place ? Math.max(0, Math.min(b, end) - Math.max(a, start)) : 0, b - a]);
    if (!spans.length) return 0;
    if (question.match === "any") return Math.max(...spans.map(([found, size]) => found / Math.max(size, 1)));
    return spans.reduce((sum, [found]) => sum + found, 0) / Math.max(spans.reduce((sum, [, size]) => sum + size, 0), 1);
  };
  const passagesOf = (question, run) => {
    const result = question.results[run];
    return result ? result.served[state.view].map(([index, score]) => ({ passage: data.passages[index], score })) : [];
  };

  const box = (name, strip, start, end, style, ...children) => {
    const [, first, last] = strip;
    const from = Math.max(start, first), to = Math.min(end, last);
    if (from >= to) return null;
    const share = (value) => `${((value / (last - first)) * 100).toFixed(3)}%`;
    return make("span", { class: name, style: { left: share(from - first), width: share(to - from), ...style } }, ...children);
  };
  const lane = (name, boxes) => make("div", { class: "lane" }, make("span", {}, name), make("div", { class: "track" }, boxes));

  const strip = (question, drawn) => {
    const [place, first, last, length, cutsByRun] = drawn;
    const gold = goldIn(question, place);
    const shade = () => gold.map(([start, end]) => box("shade", drawn, start, end, {}));
    const words = [];
    const lanes = data.runs.map((run, index) => {
      const served = passagesOf(question, index)
        .map(({ passage }, rank) => ({ passage, rank: rank + 1 }))
        .filter(({ passage }) => passage[0] === place && passage[1] < last && passage[2] > first);
      words.push(`${run.letter}: ${served.length ? "served as number " + served.map(({ rank }) => rank).join(", ") : "nothing served from here"}`);
      return lane(data.runs.length > 1 ? run.letter : "served", [
        ...shade(),
        ...(cutsByRun[index] || []).map(([start, end]) => box("chunk", drawn, start, end, {})),
        ...served.map(({ passage, rank }) => box("served", drawn, passage[1], passage[2], series(index), String(rank))),
      ]);
    });
    const near = gold.filter(([start, end]) => start < last && end > first);
    const label = `The answer at ${near.map(([start, end]) => `${start} to ${end}`).join(", ")}. ${words.join("; ")}.`;
    const cuts = data.runs.flatMap((run, index) => (cutsByRun[index] || []).map(([at]) => ({ at, run: index, letter: run.letter })));
    const [from, to] = atWords(place, Math.max(near[0][0] - 340, first), Math.min(near.at(-1)[1] + 340, last), length);
    const text = shown(place, from, to, gold, cuts);
    if (text && from > 0) text.unshift(make("span", { class: "gap" }, "… "));
    if (text && to < length) text.push(make("span", { class: "gap" }, " …"));
    return [
      make("p", { class: "place" }, bdi(data.documents[place]), make("span", { class: "quiet" }, `, characters ${number(first)}–${number(last)} of ${number(length)}`)),
      make("div", { class: "strip", role: "img", "aria-label": label }, lane("answer", gold.map(([start, end]) => box("answer", drawn, start, end, {}))), lanes),
      make("ul", { class: "key", "aria-hidden": "true" },
        make("li", {}, make("i", { class: "answer" }), "answer"),
        make("li", {}, make("i", { class: "served", style: series(0) }), "served, with its rank"),
        cutsByRun.some(Boolean) ? make("li", {}, make("i", { class: "chunk" }), "chunk") : null,
        cutsByRun.some((cut) => cut === null) ? make("li", {}, `chunks of ${data.runs.filter((_, index) => cutsByRun[index] === null).map((run) => run.letter).join(", ")} are not at hand`) : null),
      text ? make("p", { class: "text around", dir: "auto", tabindex: "0" }, text) : null,
    ];
  };

  const goldSection = (question) => {
    if (!question.gold.length) return [make("p", { class: "quiet" }, "Nothing in the library answers this question; to say so is right.")];
    if (question.strips.length) return question.strips.map((drawn) => strip(question, drawn));
    return [make("ul", {}, question.gold.map(([place, start, end]) => make("li", {}, bdi(data.documents[place]), ` characters ${number(start)}–${number(end)}`)))];
  };

  const measureValue = (name, value) => (name === "Tokens" ? number(value) : name === "RR" || name === "nDCG" ? value.toFixed(2) : `${(value * 100).toFixed(0)} %`);

  const passageItem = (question, { passage, score }) => {
    const [place, start, end, tokens] = passage;
    const share = held(question, passage);
    const facts = [`${number(tokens)} tokens`];
    if (score !== undefined) facts.push(`score ${score.toFixed(3)}`);
    const text = shown(place, start, end, goldIn(question, place));
    const holds = share >= 1 ? "holds the whole answer" : share > 0 ? `holds ${percent(share)} of the answer` : "";
    return make("li", { class: share > 0 ? "holds" : null },
      make("p", { class: "place" }, bdi(data.documents[place]), ` ${number(start)}–${number(end)}`,
        make("span", { class: "quiet" }, facts.join(" · "), holds ? " · " : "", holds ? make("b", {}, holds) : "")),
      text ? make("details", { open: share > 0 }, make("summary", {}, "Text"), make("p", { class: "text", dir: "auto" }, text)) : null);
  };

  const runSection = (question, index, place) => {
    const run = data.runs[index], result = question.results[index];
    const [kind, text] = outcome(state.view, place, index);
    const head = make("h3", {}, data.runs.length > 1 ? make("span", {}, `${run.letter} `) : null, bdi(run.name), make("span", { class: `outcome ${kind}` }, text));
    if (!result) return make("article", { style: series(index) }, head, make("p", { class: "quiet" }, "This run does not have the question."));
    const measures = data.measures
      .map((name, at) => [name, result.measures[state.view][at]])
      .filter(([, value]) => value !== null)
      .map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, measureValue(name, value))));
    const why = failure(result, state.view);
    const passages = passagesOf(question, index);
    return make("article", { style: series(index) }, head,
      why ? make("p", { class: "why" }, make("b", {}, why), state.view === data.main && result.detail ? [": ", bdi(result.detail)] : "") : null,
      make("dl", { class: "facts-list" }, measures, result.relevance !== null ? make("div", {}, make("dt", {}, "relevance"), make("dd", {}, result.relevance.toFixed(2))) : null),
      passages.length ? make("ol", { class: "passages" }, passages.map((each) => passageItem(question, each))) : make("p", { class: "quiet" }, "Nothing was served."));
  };

  const render = () => {
    const place = state.open, question = data.questions[place];
    const at = state.shown.indexOf(place);
    const button = (key, name, sign, disabled) =>
      make("button", { type: "button", "data-do": key, disabled, "aria-label": name }, sign === "‹" ? "‹" : null, make("span", { class: sign ? "long" : null }, ` ${name} `), sign === "›" ? "›" : null);
    const select = make("select", { "aria-label": "Measured in", id: "detail-view" }, data.views.map((view) => make("option", { value: view, selected: view === state.view }, data.labels[view])));
    dialog.replaceChildren(
      make("div", { class: "controls" },
        button("previous", "Previous", "‹", at <= 0), button("next", "Next", "›", at < 0 || at >= state.shown.length - 1),
        make("span", { class: "quiet" }, at < 0 ? "" : `${at + 1} of ${state.shown.length}`),
        data.views.length > 1 ? select : null, button("close", "Close", "")),
      make("div", { class: "detail" },
        make("h2", { id: "detail-title", dir: "auto" }, question.text || question.id),
        make("span", { class: "facts", dir: "auto" }, [question.id, ...question.facts].join(" · ")),
        question.skipped ? make("p", { class: "note" }, `Not scored: ${question.skipped}`) : null,
        make("h3", {}, "Where the answer stands"), goldSection(question),
        question.skipped ? null : make("div", { class: "runs" }, data.runs.map((_, index) => runSection(question, index, place)))));
    dialog.scrollTop = 0;
    if (dialog.open) centre();
  };

  /** The first mark of each text in the middle of its box. */
  const centre = () => {
    for (const text of dialog.querySelectorAll(".around")) {
      const mark = text.querySelector("mark");
      if (mark) text.scrollTop = mark.offsetTop - text.offsetTop - text.clientHeight / 3;
    }
  };

  const open = (place) => {
    state.open = place;
    render();
    if (!dialog.open) dialog.showModal();
    centre();
    history.replaceState(null, "", `#question=${encodeURIComponent(data.questions[place].id)}`);
  };
  const step = (by) => {
    const next = state.shown[state.shown.indexOf(state.open) + by];
    if (next === undefined || state.shown.indexOf(state.open) < 0) return;
    open(next);
    const same = dialog.querySelector(`[data-do=${by > 0 ? "next" : "previous"}]`);
    (same.disabled ? dialog.querySelector("[data-do=close]") : same).focus();
  };

  table.addEventListener("click", (event) => {
    const button = event.target.closest("button.open");
    if (button) open(Number(button.closest("tr").dataset.question));
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
    const act = event.target.closest("button[data-do]");
    if (!act) return;
    if (act.dataset.do === "close") dialog.close();
    else step(act.dataset.do === "next" ? 1 : -1);
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.target.closest("select, .text")) return;
    if (event.key === "ArrowRight") step(1);
    if (event.key === "ArrowLeft") step(-1);
  });
  dialog.addEventListener("change", (event) => {
    if (event.target.id !== "detail-view") return;
    setView(event.target.value);
    render();
    byId("detail-view").focus();
  });
  dialog.addEventListener("close", () => {
    const row = rowOf.get(state.open);
    if (row && !row.hidden) row.querySelector("button.open").focus();
    history.replaceState(null, "", "#questions");
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    if (event.target.id === "view") setView(event.target.value);
    else filter();
  });

  form.hidden = false;
  filter();
  const asked = /^#question=(.*)$/.exec(location.hash);
  if (asked) {
    let id = asked[1];
    try { id = decodeURIComponent(id); } catch { /* as it stands */ }
    const place = data.questions.findIndex((question) => question.id === id);
    if (place >= 0) open(place);
  }
})();
