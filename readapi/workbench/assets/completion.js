// Names of the reference while an expression is typed, and what is known of the one at the caret. Names are asked of the public search.
"use strict";

(() => {
  const field = $("#expression");
  if (!field) return;
  const shortest = 2, most = 8, wait = 120; // letters, names, milliseconds after the last key
  const list = $("#completions"), about = $("#about"), count = $("#completion-count");
  let rows = [], active = -1, timer, asked = 0;
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-haspopup", "listbox");
  field.setAttribute("aria-controls", "completions");

  const answers = new Map();
  /** An answer of the reference, asked for once; undefined where there is none. */
  function known(address) {
    if (!answers.has(address)) {
      answers.set(address, fetch(address).then((answer) => (answer.ok ? answer.json() : undefined)).catch(() => { answers.delete(address); }));
    }
    return answers.get(address);
  }
  /** The entry of a name; undefined where the reference has none. Only names that a search finds are asked for: an answer 404 is an error in the console. */
  async function entryOf(name) {
    if (!/^[A-Z$]/.test(name)) return undefined;
    const found = await known(`/api/docs/search?kind=function&limit=${3 * most}&q=${encodeURIComponent(name)}`);
    return found?.rows.some((row) => row.name === name) ? known("/api/docs/symbol/" + encodeURIComponent(name)) : undefined;
  }

  /** Whether a place in the text is inside a string or a comment, in which there are no names. */
  function quoted(text) {
    let inString = false, comments = 0;
    for (let i = 0; i < text.length; i++) {
      if (inString) {
        if (text[i] === "\\") i++;
        else if (text[i] === '"') inString = false;
      } else if (text.startsWith("(*", i)) { comments++; i++; } else if (comments && text.startsWith("*)", i)) { comments--; i++; } else if (!comments && text[i] === '"') inString = true;
    }
    return inString || comments > 0;
  }

  /** The name that ends at the caret. */
  function begun() {
    const before = field.value.slice(0, field.selectionStart);
    if (field.selectionStart !== field.selectionEnd || /^[A-Za-z0-9$]/.test(field.value.slice(field.selectionEnd)) || quoted(before)) return "";
    return before.match(/(?<![A-Za-z0-9$`])[A-Za-z$][A-Za-z0-9$]*$/)?.[0] ?? "";
  }

  function close() {
    rows = [];
    active = -1;
    list.hidden = true;
    list.replaceChildren();
    count.textContent = "";
    field.removeAttribute("aria-activedescendant");
  }

  function show(found) {
    rows = found;
    active = -1;
    list.replaceChildren(...rows.map((row, i) => {
      const option = document.createElement("li"), name = document.createElement("code"), text = document.createElement("span");
      option.id = "completion-" + i;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      say(name, row.name);
      text.className = "small";
      say(text, ` ${row.status === "supported" ? "" : row.status + ". "}${row.summary}`);
      option.append(name, text);
      return option;
    }));
    list.hidden = rows.length === 0;
    count.textContent = rows.length ? `${rows.length} names; the arrow keys choose, Enter takes one, Escape closes` : "";
    field.removeAttribute("aria-activedescendant");
  }

  function choose(i) {
    active = i;
    for (const [n, option] of [...list.children].entries()) option.setAttribute("aria-selected", String(n === active));
    field.setAttribute("aria-activedescendant", "completion-" + active);
    list.children[active].scrollIntoView({ block: "nearest" });
    tell(rows[active].name);
  }

  function take(i) {
    const word = begun(), name = rows[i].name;
    close();
    field.focus();
    field.setSelectionRange(field.selectionStart - word.length, field.selectionStart);
    // insertText keeps what undoes it; where a browser has it no more, the text is put in all the same.
    if (!document.execCommand?.("insertText", false, name)) field.setRangeText(name, field.selectionStart, field.selectionEnd, "end");
    clearTimeout(timer); // what was chosen is not completed further
    asked++;
    tell(name);
  }

  async function complete() {
    const word = begun(), turn = ++asked;
    if (word.length < shortest) return close();
    const found = await known(`/api/docs/search?kind=function&limit=${3 * most}&q=${encodeURIComponent(word)}`);
    if (turn !== asked || document.activeElement !== field) return;
    const begins = (found?.rows ?? []).filter((row) => row.name.toLowerCase().startsWith(word.toLowerCase()) && row.name !== word);
    show(begins.slice(0, most));
  }

  let told = "";
  /** What the reference says of a name, below the field. */
  async function tell(name) {
    if (told === name) return;
    told = name;
    const entry = await entryOf(name);
    if (told !== name) return;
    if (!entry) return about.replaceChildren();
    const link = document.createElement("a"), status = document.createElement("span"), forms = document.createElement("code");
    link.href = "/reference/" + encodeURIComponent(entry.name);
    say(link, entry.name);
    say(status, ` (${entry.status}): ${entry.summary} `);
    say(forms, entry.usage.slice(0, 2).map((usage) => usage.form).join("   "));
    about.replaceChildren(link, status, forms);
  }

  /** The name that the caret stands in or behind. */
  function atCaret() {
    const before = field.value.slice(0, field.selectionStart);
    if (quoted(before)) return "";
    const start = before.match(/[A-Za-z0-9$]*$/)[0], rest = field.value.slice(field.selectionStart).match(/^[A-Za-z0-9$]*/)[0];
    if (start + rest) return start + rest;
    return before.match(/([A-Za-z$][A-Za-z0-9$]*)\[[^\][]*$/)?.[1] ?? ""; // among the arguments of a call: its head
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(complete, wait);
  });
  document.addEventListener("selectionchange", () => {
    if (document.activeElement === field && active < 0) tell(atCaret());
  });
  let took = false; // the key that chose a name writes nothing
  field.addEventListener("keypress", (event) => {
    if (took) event.preventDefault();
    took = false;
  });
  field.addEventListener("keyup", () => { took = false; });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey) return close();
    if (list.hidden || event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) choose((active + step + rows.length + (active < 0 && step < 0 ? 1 : 0)) % rows.length);
    else if ((event.key === "Enter" || event.key === "Tab") && active >= 0) take(active);
    else if (event.key === "Escape") close();
    else return;
    took = event.key === "Enter";
    event.preventDefault();
    event.stopPropagation();
  });
  field.addEventListener("blur", close);
  list.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) take([...list.children].indexOf(option));
  });

  /** The name below the pointer in an expression that was evaluated. */
  function pointed(event) {
    const at = document.caretPositionFromPoint?.(event.clientX, event.clientY);
    const node = at?.offsetNode;
    if (node?.nodeType !== Node.TEXT_NODE) return "";
    return node.data.slice(0, at.offset).match(/[A-Za-z0-9$]*$/)[0] + node.data.slice(at.offset).match(/^[A-Za-z0-9$]*/)[0];
  }
  let hovered = "";
  $("#cells").addEventListener("mousemove", async (event) => {
    const code = event.target.closest(".expression"), name = code ? pointed(event) : "";
    if (name === hovered) return;
    hovered = name;
    for (const each of $$("#cells .expression[title]")) each.removeAttribute("title");
    if (!/^[A-Z]/.test(name)) return;
    const entry = await entryOf(name);
    if (entry && hovered === name) code.title = seen(`${entry.name} (${entry.status}): ${entry.summary}\n${entry.usage.slice(0, 2).map((usage) => usage.form).join("\n")}`);
  });
})();
