// Brackets in a field and their partners, marked behind its text. The field stays a textarea.
"use strict";

(() => {
  const longest = 20_000; // characters of a text whose brackets are looked at
  const opening = { "(": ")", "[": "]", "{": "}" }, closing = { ")": "(", "]": "[", "}": "{" };

  /** The partner of each bracket by its place; null: it has none. What stands in strings and comments has no brackets. */
  function partners(text, comment) {
    const found = new Map(), open = [];
    for (let i = 0; i < text.length; i++) {
      const skipped = text[i] === '"' ? stringEnd(text, i) : comment(text, i);
      if (skipped > i) {
        i = skipped - 1;
        continue;
      }
      if (opening[text[i]]) open.push(i);
      else if (closing[text[i]]) {
        const from = open.length && text[open.at(-1)] === closing[text[i]] ? open.pop() : null;
        found.set(i, from);
        if (from !== null) found.set(from, i);
      }
    }
    for (const i of open) found.set(i, null);
    return found;
  }
  function stringEnd(text, i) {
    for (let j = i + 1; j < text.length; j++) {
      if (text[j] === "\\") j++;
      else if (text[j] === '"') return j + 1;
    }
    return text.length;
  }

  /** Where a comment ends that begins at a place; the place itself: none begins there. Those of the language are nested. */
  function nested(text, i) {
    if (!text.startsWith("(*", i)) return i;
    let depth = 1, j = i + 2;
    for (; j < text.length && depth > 0; j++) {
      if (text.startsWith("(*", j)) { depth++; j++; } else if (text.startsWith("*)", j)) { depth--; j++; }
    }
    return j;
  }
  function lines(text, i) {
    const end = text.startsWith("//", i) ? text.indexOf("\n", i) : text.startsWith("/*", i) ? text.indexOf("*/", i) : i;
    return end < 0 ? text.length : end;
  }

  function mark(field, back, said, comment) {
    const text = field.value, caret = field.selectionStart;
    back.replaceChildren();
    said.textContent = "";
    if (text.length > longest || caret !== field.selectionEnd || document.activeElement !== field) return;
    const found = partners(text, comment);
    const place = [caret - 1, caret].find((i) => found.has(i)); // the one before the caret, or else behind it
    if (place === undefined) return;
    const partner = found.get(place);
    let from = 0;
    for (const i of partner === null ? [place] : [place, partner].sort((a, b) => a - b)) {
      const bracket = document.createElement("mark");
      bracket.className = partner === null ? "alone" : "pair";
      bracket.textContent = text[i];
      back.append(text.slice(from, i), bracket);
      from = i + 1;
    }
    back.append(text.slice(from) + "\n");
    back.style.width = field.clientWidth + "px"; // without the field's scrollbar; a style set by a script is no inline style
    back.scrollTop = field.scrollTop;
    if (partner === null) said.textContent = `The bracket ${text[place]} has no partner.`;
  }

  for (const [selector, comment] of [["#expression", nested], ["#job-expression", nested], ["#circuit", lines]]) {
    const field = $(selector);
    if (!field) continue;
    const editor = document.createElement("div"), back = document.createElement("div"), said = document.createElement("span");
    editor.className = "editor";
    back.className = "back";
    back.setAttribute("aria-hidden", "true");
    said.className = "unread";
    said.setAttribute("role", "status");
    field.before(editor);
    editor.append(back, field, said);
    const again = () => mark(field, back, said, comment);
    for (const kind of ["input", "focus", "blur"]) field.addEventListener(kind, again);
    field.addEventListener("scroll", () => { back.scrollTop = field.scrollTop; });
    new ResizeObserver(again).observe(field);
    document.addEventListener("selectionchange", () => document.activeElement === field && again());
  }
})();
