// The reference's search, choice of samples and forms to try the interface. Without it the page shows everything.
"use strict";

const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

/** Shows the operations that hold every word of the search. */
function search() {
  const words = $("#search").value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const operation of $$(".operation")) {
    const text = (operation.id + " " + $("h2", operation).textContent + " " + $("p", operation).textContent + " " + $$("table", operation).map((table) => table.textContent).join(" ")).toLowerCase();
    operation.hidden = !words.every((word) => text.includes(word));
    if (!operation.hidden) shown++;
  }
  $("#found").textContent = words.length ? `${shown} of ${$$(".operation").length} operations` : "";
}

/** Shows the samples of one language. */
function chooseLanguage() {
  const language = $("#language").value;
  for (const sample of $$(".sample")) sample.hidden = sample.dataset.language !== language;
}

/** The address and the headers of a form's request. */
function addressOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = {};
  for (const input of $$("input[data-in]", form)) {
    if (input.dataset.in === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(input.value));
    else if (input.value && input.dataset.in === "query") query.set(input.name, input.value);
    else if (input.value && input.dataset.in === "header") headers[input.name] = input.value;
  }
  return { address: path + (query.size ? "?" + query : ""), headers };
}

/** An answer as text: JSON is indented. */
function readable(text, type) {
  if (!/json/.test(type)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Sends a request of this page's own site, and says in words why it could not be sent. */
async function send(method, address, headers, body) {
  const options = { method, headers, credentials: "same-origin", cache: "no-store", redirect: "error" };
  if (body !== undefined) {
    options.body = body;
    headers["Content-Type"] = "application/json";
  }
  const answer = await fetch(address, options);
  return { answer, text: await answer.text() };
}

/** Sends what a form says and shows the answer. */
async function tryIt(form) {
  const status = $(".status", form.parentElement), shown = $(".answer", form.parentElement), button = $("button", form);
  const { address, headers } = addressOf(form);
  button.disabled = true;
  status.textContent = "…";
  try {
    const { answer, text } = await send(form.dataset.method, address, headers, form.elements.body?.value);
    status.textContent = `${form.dataset.method} ${address}: ${answer.status}${answer.status === 401 ? ", sign in above" : ""}`;
    shown.textContent = readable(text, answer.headers.get("Content-Type") ?? "");
    shown.hidden = false;
  } catch (error) {
    status.textContent = `The request was not answered: ${error.message}`;
  }
  button.disabled = false;
}

/** Signs in or out and says how it went. */
async function session(address, body) {
  try {
    const { answer, text } = await send("POST", address, {}, body);
    $("#session").textContent = answer.ok ? (body ? "signed in" : "signed out") : JSON.parse(text).detail;
  } catch (error) {
    $("#session").textContent = error.message;
  }
}

for (const element of $$("#tools, #account, .try")) element.hidden = false;
$("#search").addEventListener("input", search);
$("#language").addEventListener("change", chooseLanguage);
$("#sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  const { email, password } = event.target.elements;
  session("/auth/login", JSON.stringify({ email: email.value, password: password.value }));
  password.value = "";
});
$("#sign-out").addEventListener("click", () => session("/auth/logout"));
for (const form of $$(".try form")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    tryIt(form);
  });
}
chooseLanguage();
search();
