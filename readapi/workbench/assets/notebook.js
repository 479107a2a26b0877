// The notebook: its cells are kept in this browser for the account of the page, can be edited, moved and deleted, and are saved as a file.
// A session has an address, where the service shows its runs again.
"use strict";

/** The file that the cells are saved in. */
function notebookName() {
  const session = $("#session")?.value.trim();
  return (session && /^[\w.-]{1,64}$/.test(session) ? session : "notebook") + ".md";
}

/** The page's address names the session that was evaluated in: what is opened again shows its cells. */
document.addEventListener("htmx:afterRequest", (event) => {
  const form = event.detail.requestConfig.elt, session = form.querySelector('[name="session_id"]')?.value;
  if (!form.matches("#evaluate, .again") || location.pathname !== "/" || !event.detail.xhr.status) return;
  history.replaceState(null, "", session ? "/?session_id=" + encodeURIComponent(session) : "/");
  const field = $("#session");
  if (field && form.matches(".again")) field.value = session ?? "";
});

/** A drawing that cannot be had now leaves the one before it; why the form is not done for who is signed in stands in its place. */
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target.id === "diagram" && event.detail.xhr.status >= 400 && ![401, 409].includes(event.detail.xhr.status)) event.detail.shouldSwap = false;
});

/** What the browser keeps, under names that begin with whose it is. A browser that keeps nothing, or has no room, is as one without scripts. */
const kept = {
  all: "reckon-notebook:",
  of: (account) => `${kept.all}${account}:`,
  get mine() { return kept.of(document.body.dataset.madeFor); },
  names() {
    try { return Object.keys(localStorage).filter((name) => name.startsWith(kept.all)); } catch { return []; }
  },
  read(name) {
    try { return localStorage.getItem(kept.mine + name) ?? ""; } catch { return ""; }
  },
  write(name, text) {
    try { text ? localStorage.setItem(kept.mine + name, text) : localStorage.removeItem(kept.mine + name); } catch { kept.forget(kept.mine + name); }
  },
  forget(beginning) {
    for (const name of kept.names().filter((each) => each.startsWith(beginning))) localStorage.removeItem(name);
  },
  /** Who signs in goes on with what was written before; what other accounts left is removed. */
  takeOver() {
    if (document.body.dataset.madeFor === "nobody") return;
    const nobodys = kept.of("nobody"), fresh = !kept.names().some((name) => name.startsWith(kept.mine));
    for (const name of kept.names()) {
      if (fresh && name.startsWith(nobodys)) kept.write(name.slice(nobodys.length), localStorage.getItem(name));
      if (!name.startsWith(kept.mine)) localStorage.removeItem(name);
    }
  },
};
kept.takeOver();
document.addEventListener("submit", (event) => {
  if (event.target.matches('form[action="/sign-out"]')) kept.forget(kept.all);
});

(() => {
  const list = $("#cells"), field = $("#expression");
  if (!list || !field) return;
  const mostCells = 50, mostOfCell = 60_000, mostOfAll = 1_000_000, mostDeleted = 200; // cells, characters, characters, runs
  const place = () => "cells:" + (new URLSearchParams(location.search).get("session_id") ?? "");
  const all = () => $$("#cells > .cell"), inPlace = (cell) => $("form.again", cell);
  let deleted = [];

  const button = (name, text, act) => {
    const made = document.createElement("button");
    Object.assign(made, { type: "button", className: "tool", textContent: text, title: name, ariaLabel: name });
    made.addEventListener("click", act);
    return made;
  };

  /** The markup of a cell as it is kept: without what belongs to the moment. */
  function markupOf(cell) {
    const copy = cell.cloneNode(true);
    copy.classList.remove("htmx-added");
    for (const passing of $$(".tools, .edit, .undo", copy)) passing.remove();
    for (const said of $$("output.receipt, .actions [role=status]", copy)) said.replaceChildren();
    for (const box of $$(".in [hidden]", copy)) box.hidden = false;
    if (copy.outerHTML.length <= mostOfCell) return copy.outerHTML;
    for (const out of $$(".out, .kept", copy)) out.remove();
    const note = document.createElement("p");
    Object.assign(note, { className: "note", textContent: "The answer was too large to be kept in this browser: evaluate it again." });
    $(".in", copy).after(note);
    return copy.outerHTML.length <= mostOfCell ? copy.outerHTML : "";
  }

  /** Keeps the newest cells that there is room for, in their order. */
  function keep() {
    let room = mostOfAll;
    const cells = [];
    for (const cell of all().reverse().slice(0, mostCells)) {
      const html = markupOf(cell);
      if ((room -= html.length) < 0) break;
      if (html) cells.unshift({ run: cell.dataset.run, html });
    }
    kept.write(place(), cells.length || deleted.length ? JSON.stringify({ cells, deleted: deleted.slice(-mostDeleted) }) : "");
  }

  function remember() {
    try { return JSON.parse(kept.read(place()) || "{}"); } catch { return {}; }
  }

  /** Shows the kept cells in their order; of a session those that the service shows. What the service shows besides is newer or older. */
  function restore() {
    const was = remember(), shown = new Map(all().map((cell) => [cell.dataset.run, cell]));
    if (place() !== "cells:") was.cells = was.cells?.filter((cell) => shown.has(cell.run));
    deleted = was.deleted ?? [];
    for (const run of deleted) shown.get(run)?.remove();
    const oldest = Math.min(...(was.cells ?? []).map((cell) => Number(cell.run ?? Infinity)));
    const newer = all().filter((cell) => Number(cell.dataset.run) >= oldest);
    for (const each of was.cells ?? []) {
      const cell = shown.get(each.run) ?? new DOMParser().parseFromString(each.html, "text/html").querySelector("article.cell");
      if (!cell) continue;
      list.append(cell);
      for (const whose of $$('input[name="made_for"]', cell)) whose.value = document.body.dataset.madeFor;
      htmx.process(cell);
    }
    const known = new Set((was.cells ?? []).map((cell) => cell.run));
    list.append(...newer.filter((cell) => !known.has(cell.dataset.run)));
    begin(list);
    equip();
  }

  /** Opens the expression of a cell to be changed where it stands, or in the field of the page where it is too long for that. */
  function edit(cell) {
    const box = $(".in > pre, .in > .long", cell), expression = plain($(".expression", cell)), again = inPlace(cell);
    if ($(".edit", cell)) return $(".edit textarea", cell).focus();
    if (!again) {
      field.value = expression;
      return field.focus();
    }
    const editor = document.createElement("div"), text = document.createElement("textarea"), run = document.createElement("button");
    editor.className = "edit";
    Object.assign(text, { value: expression, rows: Math.min(12, expression.split("\n").length + 1), spellcheck: false, ariaLabel: "Expression of this cell" });
    Object.assign(run, { type: "button", className: "primary", textContent: "Evaluate" });
    const leave = () => {
      editor.remove();
      box.hidden = false;
      $(".tool", cell)?.focus();
    };
    const submit = () => {
      $('[name="expression"]', again).value = text.value;
      if (text.value.trim()) again.requestSubmit();
    };
    text.addEventListener("keydown", (event) => {
      if (event.key === "Escape") leave();
      if (event.key === "Enter" && event.shiftKey && !event.isComposing) {
        event.preventDefault();
        submit();
      }
    });
    run.addEventListener("click", submit);
    editor.append(text, run, button("Leave it as it was", "Cancel", leave));
    box.hidden = true;
    box.after(editor);
    text.focus();
  }

  /** Takes a cell out of the page, and leaves a way back. */
  function remove(cell) {
    for (const note of $$("#cells > .undo")) note.remove();
    const note = document.createElement("p"), run = cell.dataset.run;
    Object.assign(note, { className: "note undo", textContent: "The cell is deleted. " });
    note.setAttribute("role", "status");
    const back = button("Undo: show the cell again", "Undo", () => {
      note.replaceWith(cell);
      deleted = deleted.filter((each) => each !== run);
      keep();
      $(".tool", cell).focus();
    });
    note.append(back);
    cell.replaceWith(note);
    if (run) deleted.push(run);
    keep();
    back.focus();
  }

  function move(cell, by, from) {
    const others = all(), other = others[others.indexOf(cell) + by];
    if (!other) return;
    by < 0 ? other.before(cell) : other.after(cell);
    keep();
    from.focus();
    cell.scrollIntoView({ block: "nearest" });
  }

  /** Gives each cell its tools. */
  function equip() {
    for (const cell of all().filter((each) => !$(".tools", each))) {
      const tools = document.createElement("div");
      tools.className = "tools";
      tools.append(
        button("Edit this cell", "Edit", () => edit(cell)),
        button("Move this cell up", "↑", (event) => move(cell, -1, event.currentTarget)),
        button("Move this cell down", "↓", (event) => move(cell, 1, event.currentTarget)),
        button("Delete this cell", "✕", () => remove(cell)),
      );
      $(".in", cell).append(tools);
    }
  }

  const ofCells = (target) => target === list || target.matches(".cell");
  document.addEventListener("htmx:afterSwap", (event) => { // not when it has settled: the page may be left before
    if (!ofCells(event.detail.target)) return;
    equip();
    keep();
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    const target = event.detail.target;
    if (ofCells(target) && target !== list && document.activeElement === document.body) $(".tool", event.target.closest(".cell") ?? list)?.focus(); // the focus was in the cell that was replaced
  });
  field.addEventListener("input", () => kept.write("draft", field.value));
  $("#clear")?.addEventListener("click", () => {
    deleted.push(...all().map((cell) => cell.dataset.run).filter(Boolean));
    list.replaceChildren();
    keep();
    field.focus();
  });
  field.value ||= kept.read("draft");
  restore();
})();
