// Names of the reference while an expression is typed, and what is known of the one at the caret. Names are asked of the public search.
"use strict";

(() => {
  const field = $("#expression");
  if (!field) return;
  const shortest = 2, most = 8, searched = 100, wait = 120; // letters, names, names, milliseconds after the last key
  // Names that most questions use, the most used first: of names that begin alike these are offered before others.
  const everyday = "Integrate Solve Plot Simplify D Factor Expand Limit Sum Series NIntegrate N DSolve FullSimplify Table Plot3D NSolve Inverse Det Eigenvalues FactorInteger PrimeQ Prime Reduce Apart Together Product Sin Cos Tan Exp Log Sqrt Abs ArcTan ArcSin ArcCos Sinh Cosh Pi Infinity Mean Variance Median StandardDeviation Total Length Map Select Range Sort Transpose Eigenvectors Eigensystem LinearSolve Dot MatrixPower GCD LCM Mod Quotient Binomial Factorial Fit FindRoot Minimize Maximize NMinimize FindMinimum ListPlot ListLinePlot ParametricPlot ContourPlot DensityPlot Histogram Collect Coefficient CoefficientList PolynomialQuotient PolynomialRemainder TrigExpand TrigReduce Normal Round Floor Ceiling Max Min If Module With Block Function Fibonacci StringLength StringJoin".split(" ");
  const inWords = { supported: "", divergent: "some examples wrong", blocked: "not allowed here", unsupported: "not available" };
  const summary = (row) => row.summary + (inWords[row.status] ? ` (${inWords[row.status]})` : "");
  let template = false; // the field has a call whose arguments Tab goes through
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
    const found = await known(`/api/docs/search?kind=function&limit=${searched}&q=${encodeURIComponent(name)}`);
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
      say(text, ` ${summary(row)}`);
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
    write(name);
    clearTimeout(timer); // what was chosen is not completed further
    asked++;
    tell(name);
    writeArguments(name);
  }

  /** Writes a text at the caret. insertText keeps what undoes it; where a browser has it no more, the text is put in all the same. */
  function write(text) {
    if (!document.execCommand?.("insertText", false, text)) field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
    clearTimeout(timer);
  }

  /** Writes the arguments of the first form of a name behind it, and selects the first of them. What has been typed meanwhile is left alone. */
  async function writeArguments(name) {
    const before = field.value, at = field.selectionStart, form = (await entryOf(name))?.usage[0]?.form ?? "";
    if (!form.startsWith(name + "[") || !form.endsWith("]") || field.value !== before || field.selectionStart !== at || before[at] === "[") return;
    write(form.slice(name.length));
    template = true;
    asked++;
    const [first] = call(at + 1).arguments;
    field.setSelectionRange(first.from, first.to);
    count.textContent = "Tab goes to the next argument, Escape leaves them";
  }

  /** The call or list around a place of the text: its arguments, and where it ends; undefined outside of any. */
  function call(at) {
    const text = field.value, closes = { "[": "]", "{": "}", "(": ")" };
    let from = at - 1;
    for (let depth = 0; from >= 0; from--) {
      if (text[from] in closes && depth-- === 0) break;
      if (Object.values(closes).includes(text[from])) depth++;
    }
    if (from < 0) return undefined;
    const found = [];
    for (let i = from + 1, start = i, depth = 0; i < text.length; i++) {
      if (text[i] in closes) depth++;
      const ends = Object.values(closes).includes(text[i]) && depth-- === 0;
      if (!ends && !(text[i] === "," && depth === 0)) continue;
      found.push({ from: start + text.slice(start, i).search(/\S|$/), to: i });
      if (ends) return { arguments: found, end: i + 1 };
      start = i + 1;
    }
    return undefined;
  }

  /** Selects the argument after or before the one at the caret; behind the last one it leaves the call. False: there is none. */
  function nextArgument(step) {
    const around = call(field.selectionStart);
    if (!around) return false;
    const here = around.arguments.findIndex((each) => field.selectionStart <= each.to), next = around.arguments[here + step];
    if (next) field.setSelectionRange(next.from, next.to);
    else if (step > 0) field.setSelectionRange(around.end, around.end);
    template = Boolean(next);
    return template || step > 0;
  }

  /** How many times the cells of the page have a name: what somebody uses is offered before what others use. */
  const uses = (name) => $$("#cells .expression").reduce((sum, code) => sum + (code.textContent.match(/[A-Za-z$][A-Za-z0-9$]*/g) ?? []).filter((each) => each === name).length, 0);

  async function complete() {
    const word = begun(), turn = ++asked;
    if (word.length < shortest) return close();
    const found = await known(`/api/docs/search?kind=function&limit=${searched}&q=${encodeURIComponent(word)}`);
    if (turn !== asked || document.activeElement !== field) return;
    const begins = (found?.rows ?? []).filter((row) => row.name.toLowerCase().startsWith(word.toLowerCase()) && row.name !== word);
    const ranked = begins.map((row, i) => ({ row, rank: [row.name.startsWith(word) ? 0 : 1, -uses(row.name), everyday.indexOf(row.name) + 1 || Infinity, i] }));
    ranked.sort((a, b) => { const n = a.rank.findIndex((each, i) => each !== b.rank[i]); return n < 0 ? 0 : a.rank[n] < b.rank[n] ? -1 : 1; });
    show(ranked.slice(0, most).map((each) => each.row));
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
    say(status, `: ${summary(entry)} `);
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
    if (event.isComposing) return;
    if (list.hidden) {
      if (event.key === "Escape") template = false;
      else if (event.key === "Tab" && template && nextArgument(event.shiftKey ? -1 : 1)) event.preventDefault();
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) choose((active + step + rows.length + (active < 0 && step < 0 ? 1 : 0)) % rows.length);
    else if ((event.key === "Enter" || event.key === "Tab") && active >= 0) take(active);
    else if (event.key === "Escape") close();
    else return;
    took = event.key === "Enter";
    event.preventDefault();
    event.stopPropagation();
  });
  field.addEventListener("blur", () => {
    template = false;
    close();
  });
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
    if (entry && hovered === name) code.title = seen(`${entry.name}: ${summary(entry)}\n${entry.usage.slice(0, 2).map((usage) => usage.form).join("\n")}`);
  });
})();
