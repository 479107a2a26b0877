// What the pages of the workbench do by themselves. They work without it, but for what they then say.
"use strict";

const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

/** The text of an element as it came: characters that are shown by their code points are read back, and what opens the rest of a long text is left out. */
function plain(element) {
  const copy = element.cloneNode(true);
  for (const opener of $$(".long summary", copy)) opener.remove();
  if (element.matches(".long")) $("summary", copy)?.remove();
  for (const unseen of $$(".unseen", copy)) {
    if (unseen.textContent !== "U+" + unseen.dataset.char) throw new Error("a character of this page is not the one that it stands for");
    unseen.replaceWith(String.fromCodePoint(parseInt(unseen.dataset.char, 16)));
  }
  return copy.textContent;
}

/** A text with characters that are not seen, or that turn the order of others round, as their code points. */
const seen = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu, (c) => (c === "\n" || c === "\t" ? c : "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")));

/** Writes a text, of anybody's, into an element: all texts that the scripts put on a page go this way. */
function say(element, text) {
  element.textContent = seen(text);
}

const written = (options) => (n) => new Intl.NumberFormat(undefined, options).format(n);
const inUnit = (unit, maximumFractionDigits = 0) => written({ style: "unit", unit, unitDisplay: "short", maximumFractionDigits });

/** A time in milliseconds: two units at the most. */
function duration(ms) {
  if (ms < 1000) return inUnit("millisecond")(ms);
  if (ms < 60_000) return inUnit("second", 3)(ms / 1000);
  const [size, unit, rest, smaller] = ms < 3_600_000 ? [60_000, "minute", 1000, "second"] : [3_600_000, "hour", 60_000, "minute"];
  const more = Math.floor((ms % size) / rest);
  return inUnit(unit)(Math.floor(ms / size)) + (more ? " " + inUnit(smaller)(more) : "");
}

/** Numbers of the page by what they are of. */
const numbers = {
  count: written(),
  duration,
  bytes: (n) => (n < 10_000 ? written({ style: "unit", unit: "byte", unitDisplay: "long" })(n) : n < 1 << 20 ? written({ maximumFractionDigits: 1 })(n / 1024) + " KiB" : written({ maximumFractionDigits: 1 })(n / (1 << 20)) + " MiB"),
  price: (n, element) => written({ style: "currency", currency: element.dataset.currency })(n),
};

/** Times in the reader's own zone and form; a day is one of UTC, and stays it. */
function localize(within) {
  for (const time of $$("time[datetime]", within)) {
    const date = new Date(time.dateTime);
    if (time.dataset.shown || isNaN(date)) continue;
    time.dataset.shown = "1";
    time.title = time.dateTime;
    const day = /^\d{4}-\d\d-\d\d$/.test(time.dateTime);
    time.textContent = new Intl.DateTimeFormat(undefined, day ? { dateStyle: "medium", timeZone: "UTC" } : { dateStyle: "medium", timeStyle: "medium" }).format(date);
  }
  for (const number of $$("[data-as]", within)) {
    const value = Number(number.value ?? number.dataset.value), write = numbers[number.dataset.as];
    if (write && Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER) {
      number.textContent = write(value, number); // the browser's own text, as the one above
      if (number.title !== undefined && number.dataset.as !== "count") number.title = `${number.value}${{ duration: " ms", bytes: " bytes" }[number.dataset.as] ?? ""}`; // exactly
    }
  }
}

/** The canonical serialization of a receipt's record: keys sorted, no whitespace, ASCII. */
function canonical(value) {
  if (Array.isArray(value)) return "[" + value.map(canonical).join(",") + "]";
  if (value !== null && typeof value === "object") {
    return "{" + Object.keys(value).sort().map((key) => canonical(key) + ":" + canonical(value[key])).join(",") + "}";
  }
  return JSON.stringify(value).replace(/[\u0080-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

const bytesOf = (base64) => Uint8Array.from(atob(base64.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));

/** Nothing was learned: it is not that something is wrong. */
class NotKnown extends Error {}

async function fetchJSON(address) {
  let answer, body;
  try {
    answer = await fetch(address, { credentials: "same-origin", cache: "no-store", redirect: "error" });
    body = await answer.json();
  } catch {
    throw new NotKnown("the service did not answer");
  }
  if (answer.status === 401) throw new NotKnown("you are signed out; sign in again to have it checked");
  if (!answer.ok) throw new NotKnown(body.detail ?? `the service answered ${answer.status}`);
  return body;
}

/** What a receipt shows, checked in this browser against the published keys and against the cell it stands in. Throws why it does not hold. */
async function checkReceipt(run, cell) {
  if (!globalThis.crypto?.subtle) throw new NotKnown("this browser checks signatures only on pages over https or of this machine itself; download the receipt and check it elsewhere");
  const [receipt, set] = await Promise.all([fetchJSON(`/api/receipts/${run}`), fetchJSON("/.well-known/service-keys.json")]);
  const bytes = new TextEncoder().encode(canonical(receipt.record));
  if (new TextDecoder().decode(bytes) !== receipt.canonical_form) throw new Error("its canonical form is not that of its record");
  const digest = [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))].map((b) => b.toString(16).padStart(2, "0")).join("");
  if (digest !== receipt.id) throw new Error("its id is not the SHA-256 of its record");
  if (String(receipt.record.run_id) !== run) throw new Error("it is of another run");
  if ($$(".expression, .answer", cell).length !== 2) throw new Error("this page does not show one expression and one answer");
  if (receipt.record.expression !== plain($(".expression", cell))) throw new Error("it is of another expression than this page shows");
  if (receipt.record.answer !== plain($(".answer", cell))) throw new Error("it is of another answer than this page shows");
  const sealed = receipt.record.verification?.verdict ?? "unchecked", mark = $(".verdict", cell); // the first: a check that was asked for later stands below it
  const words = { verified: "✓ Verified", refuted: "✗ Refuted", unchecked: "–" };
  if (mark ? mark.className !== `verdict ${sealed}` || !mark.textContent.trim().startsWith(words[sealed]) : sealed !== "unchecked") throw new Error("its verdict is another than this page shows");
  if (!receipt.signature) throw new Error(`it is not signed: ${receipt.unsigned_reason ?? "no reason is given"}`);
  const jwk = set.keys.find((key) => key.kid === receipt.kid);
  if (!jwk) throw new Error("its key is not among the published ones");
  const key = await crypto.subtle.importKey("raw", bytesOf(jwk.x), { name: "Ed25519" }, false, ["verify"]);
  if (!(await crypto.subtle.verify({ name: "Ed25519" }, key, bytesOf(receipt.signature), bytes))) throw new Error("its signature does not verify");
  return `The receipt holds: this expression, this answer and this verdict are what key ${receipt.kid} signed. Checked by this browser.`;
}

async function showReceiptCheck(button) {
  const cell = button.closest(".cell"), shown = $("output.receipt", cell);
  button.disabled = true;
  say(shown, "Checking…");
  const said = document.createElement("p");
  try {
    say(said, "✓ " + (await checkReceipt(button.dataset.run, cell)));
    said.className = "good";
  } catch (error) {
    const unknown = error instanceof NotKnown;
    say(said, unknown ? `– Whether the receipt holds is not known: ${error.message}.` : `✗ The receipt does not hold: ${error.message}.`);
    said.className = unknown ? "open" : "bad";
  }
  shown.replaceChildren(said);
  button.disabled = false;
}

/** The cells of the page as Markdown; fences are longer than any in the text. */
function markdown() {
  const fenced = (text, language = "") => {
    const fence = "`".repeat(Math.max(3, 1 + Math.max(0, ...[...text.matchAll(/`+/g)].map((m) => m[0].length))));
    return `${fence}${language}\n${text}\n${fence}\n`;
  };
  return $$(".cell").map((cell) => {
    const run = $(".in .id", cell)?.textContent;
    let text = `## In${run ? " " + run : ""}\n\n` + fenced(plain($(".expression", cell)), "wolfram");
    const printed = $(".printed", cell), answer = $(".answer", cell), problem = $(".problem .detail", cell), verdict = $(".verdict summary, p.verdict", cell);
    if (printed) text += "\nPrinted:\n\n" + fenced(plain(printed));
    for (const message of $$(".messages li", cell)) text += "\nMessage:\n\n" + fenced(plain(message));
    const out = $(".no-answer", cell) ? "This is no answer: the engine gave the input back" : "Out";
    if (answer) text += `\n${out}:\n\n` + fenced(plain(answer));
    if (problem) text += "\nNo answer:\n\n" + fenced(plain(problem));
    if (verdict) text += `\nCheck: ${verdict.textContent.trim().replace(/^[✓✗–]\s*/u, "")}\n`;
    return text;
  }).join("\n");
}

function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Shows what only works with this script. */
function begin(within) {
  for (const button of $$(".check-receipt, .scripted", within)) button.hidden = false;
  localize(within);
}

document.addEventListener("click", (event) => {
  const on = (selector) => event.target.closest?.(selector);
  if (on(".check-receipt")) showReceiptCheck(on(".check-receipt"));
  if (on("#stop")) stop();
  if (on("#markdown")) save(notebookName(), "text/markdown", markdown());
  const apply = on(".apply"), input = $("#expression");
  if (apply && input && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    input.value = new URL(apply.href).searchParams.get("e");
    input.focus();
  }
});

/** Ends what is being evaluated: the service stops when the connection closes. */
function stop() {
  for (const form of $$("form.working")) {
    form.dataset.stopped = "1";
    htmx.trigger(form, "htmx:abort");
  }
}

const evaluates = (event) => event.target.id === "expression" && event.key === "Enter" && event.shiftKey && !event.isComposing;
document.addEventListener("keydown", (event) => {
  if (evaluates(event)) {
    event.preventDefault();
    event.target.form.requestSubmit();
  }
  if (event.key === "Escape") stop();
});
document.addEventListener("keypress", (event) => evaluates(event) && event.preventDefault());

const state = (text) => {
  const status = $("#state");
  if (status) say(status, text);
};

// What is to be taken along has a button that copies it, where the browser lets pages copy.
for (const text of navigator.clipboard ? $$("pre[data-copy]") : []) {
  const button = document.createElement("button"), said = document.createElement("span");
  Object.assign(button, { type: "button", className: "copy", textContent: "Copy", ariaLabel: `Copy ${text.dataset.copy}` });
  Object.assign(said, { className: "small", role: "status" });
  button.addEventListener("click", async () => {
    say(said, await navigator.clipboard.writeText(text.textContent).then(() => "Copied.", () => "It was not copied: select it."));
  });
  text.after(button, " ", said);
}

/** The scheme of colours that somebody chose: the service writes it into every page that follows. */
$("#scheme")?.addEventListener("click", () => {
  const root = document.documentElement, dark = (root.dataset.scheme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  root.dataset.scheme = dark ? "light" : "dark";
  document.cookie = `reckon-scheme=${root.dataset.scheme}; path=/; max-age=31536000; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`;
});

/** Parts of a page that change are asked for again while somebody looks, every so many seconds as they say. */
let ticks = 0;
setInterval(() => {
  ticks++;
  for (const part of $$("[data-refresh]")) {
    if (!document.hidden && ticks % Number(part.dataset.refresh) === 0 && !part.contains(getSelection()?.anchorNode?.parentElement)) htmx.trigger(part, "refresh");
  }
}, 1000);

/** What ticks by itself between two answers of the service: a time or a bar with its value as of when it was first seen. */
const ticking = new WeakMap();
setInterval(() => {
  for (const part of $$("data", document).filter((each) => each.closest(".ticking")).concat($$("progress.ticking"))) {
    if (!ticking.has(part)) ticking.set(part, Number(part.value) - performance.now());
    const now = ticking.get(part) + performance.now();
    if (part.matches("progress")) part.value = now;
    else part.textContent = duration(Math.floor(now / 1000) * 1000);
  }
}, 1000);
const withoutTicking = (html) => html.replace(/<(span|progress) class="ticking".*?<\/\1>/g, "");

const refreshed = new Map(); // the last answer for each part, by its id
const scrolled = new Map();

/** Says above the page why it does not show what is now; nothing: it does. */
function away(text) {
  const note = $("#away");
  note.hidden = !text;
  if (note.textContent !== text) say(note, text);
}
document.addEventListener("htmx:sendError", (event) => {
  if (event.detail.elt.matches("[data-refresh]")) away("The service does not answer: this list is as it was, and is asked for again.");
});

/** What htmx reports of requests that ended otherwise than with success stands on the page, in words: it is no error of the page. */
htmx.logger = (element, name, detail) => {
  if (["htmx:afterRequest", "htmx:sendAbort", "htmx:sendError", "htmx:responseError", "htmx:timeout"].includes(name)) delete detail.error;
};

document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, xhr, requestConfig } = event.detail;
  const madeFor = /<body data-made-for="([^"]*)"/.exec(xhr.responseText)?.[1];
  if (requestConfig.verb === "get" && xhr.status !== 401 && madeFor && madeFor !== document.body.dataset.madeFor) { // what is somebody else's is not mixed into this page
    event.detail.shouldSwap = false;
    away("Somebody else is signed in, or nobody any more: this page is as it was. Load it again to go on.");
    return;
  }
  if (xhr.status >= 400 && requestConfig.elt.matches("a[href]")) { // a page that says why, and has not the part that was asked for
    event.detail.shouldSwap = false;
    location.assign(requestConfig.elt.href);
  }
  if (!target.matches("[data-refresh]")) return;
  // What is refreshed keeps what it shows while the service is away, and is left alone while nothing has changed.
  away(xhr.status === 401 ? "You are signed out: this list is as it was. Sign in again to go on." : xhr.status >= 400 ? `The service answered ${xhr.status}: this list is as it was, and is asked for again.` : "");
  if (xhr.status >= 400 || refreshed.get(target.id) === withoutTicking(xhr.responseText)) event.detail.shouldSwap = false;
  else refreshed.set(target.id, withoutTicking(xhr.responseText));
  scrolled.set(target.id, $(".scroll", target)?.scrollLeft ?? 0);
});
document.addEventListener("htmx:afterSwap", (event) => {
  const followed = event.detail.requestConfig.elt;
  if (followed.matches("a.zoom")) ($$("a.zoom").find((link) => link.textContent === followed.textContent) ?? $("a.zoom"))?.focus();
  const { id } = event.detail.target;
  if (scrolled.has(id)) $(`#${id} .scroll`)?.scrollTo({ left: scrolled.get(id) });
});
/** Shows how long an evaluation has taken while it is the newest one that works. */
function showElapsed(began) {
  const shown = $("#elapsed");
  if (!shown) return;
  shown.dataset.began = began;
  const limit = shown.dataset.limit && `, of at most ${duration(Number(shown.dataset.limit))} of computing`;
  const tick = () => {
    if (shown.dataset.began !== String(began) || !$("form.working")) return clearInterval(every);
    say(shown, `${inUnit("second", 1)((performance.now() - began) / 1000)}${limit ?? ""}`);
  };
  const every = setInterval(tick, 200);
  tick();
}
document.addEventListener("htmx:beforeRequest", (event) => {
  const form = event.detail.elt;
  if (!form.closest("#evaluate, .examples, .again")) return;
  delete form.dataset.stopped;
  for (const each of [form, ...$$("#evaluate, .examples")]) each.classList.add("working");
  state("Evaluating");
  showElapsed(performance.now());
});
document.addEventListener("htmx:afterRequest", (event) => {
  const form = event.detail.requestConfig.elt; // which may have been replaced by the answer
  if (!form.matches("#evaluate, .examples, .again")) return;
  for (const each of [form, ...$$("#evaluate, .examples")]) each.classList.remove("working");
  const { status, responseText } = event.detail.xhr;
  state(status && responseText.includes("<main") ? "" : status ? `The service answered ${status}, and not with a page: whether it evaluated this is not known. Your history tells.` : form.dataset.stopped ? "Stopped. What had been computed is lost." : "The service did not answer: whether it evaluated this is not known. Your history tells.");
});
document.addEventListener("htmx:afterSettle", (event) => {
  begin(document);
  const cell = $("#cells > .cell:last-child");
  if (event.detail.target.id !== "cells" || !cell) return;
  cell.scrollIntoView({ block: "nearest" });
  const input = $("#expression");
  if (document.activeElement === input && !$(".problem", cell)) input.select(); // what is typed next is the next question
});
begin(document);
if ($("[data-once]")) history.replaceState(null, "", location.href); // the answer of a form: to load it again is to look at the page, and does nothing a second time
