// An export of a proof: its theorems are read in the browser to be chosen from, and it is uploaded as it is.
"use strict";

const mostListed = 200; // theorems

/** The names of the theorems of an export, the last first: a theorem comes after those that it rests on. */
async function theoremsOf(file) {
  const packed = /\.gz$/.test(file.name) ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
  const reader = packed.pipeThrough(new TextDecoderStream()).getReader(), names = [""], found = [];
  const read = (line) => {
    if (!/"(?:str|num|thm)":/.test(line)) return;
    const { in: index, str, num, thm } = JSON.parse(line), part = str ?? num;
    if (thm) found.unshift(names[thm.name]);
    else if (part && index) names[index] = (part.pre ? names[part.pre] + "." : "") + (str ? str.str : num.i);
  };
  for (let rest = ""; ;) {
    const { done, value = "" } = await reader.read(), lines = (rest + value).split("\n");
    rest = lines.pop();
    lines.forEach(read);
    if (done) {
      read(rest);
      return found.filter((name) => typeof name === "string");
    }
  }
}

/** Shows the theorems of an export: whom the form is for ticks those that the certificate is to be about. What cannot be read is left to the service to say. */
async function showTheorems(file) {
  const shown = $("#theorems"), list = $("ul", shown), field = $("#declarations");
  shown.hidden = true;
  const found = await theoremsOf(file).catch(() => []);
  list.replaceChildren(...found.slice(0, mostListed).map((name) => {
    const line = document.createElement("li"), label = document.createElement("label"), code = document.createElement("code");
    say(code, name);
    if (field) {
      const box = document.createElement("input");
      box.type = "checkbox";
      box.addEventListener("change", () => {
        const others = field.value.split("\n").filter((each) => each.trim() && each !== name);
        field.value = [...others, ...(box.checked ? [name] : [])].join("\n");
      });
      label.append(box, " ");
    }
    label.append(code);
    line.append(label);
    return line;
  }));
  say($("legend", shown), `${found.length === 1 ? "One theorem" : numbers.count(found.length) + " theorems"} of the export${found.length > mostListed ? `, the last ${mostListed} of them` : ""}`);
  shown.hidden = found.length === 0;
  const only = $("input", list);
  if (found.length === 1 && only) only.click();
}

let uploading; // the newest upload, which ends the one before: the field has the id of the file that was chosen last

/** Uploads a proof as it is, and fills in its id. */
async function upload(file) {
  const said = $("#uploaded");
  showTheorems(file);
  if (document.body.dataset.madeFor === "nobody") return say(said, `${file.name} was read in this browser. Nothing was sent.`);
  uploading?.abort();
  const { signal } = (uploading = new AbortController());
  $("#upload").value = ""; // the id of an earlier file is not that of this one
  say(said, "Uploading…");
  try {
    const headers = { "Content-Type": "application/x-ndjson", "Reckon-Account": document.body.dataset.madeFor }; // stored for them only
    if (/\.gz$/.test(file.name)) Object.assign(headers, { "Content-Type": "application/gzip", "Content-Encoding": "gzip" });
    const answer = await fetch("/api/proofs", { method: "POST", body: file, headers, credentials: "same-origin", redirect: "error", signal });
    const body = await answer.json();
    signal.throwIfAborted();
    if (!answer.ok) throw new Error(body.detail ?? `the service answered ${answer.status}`);
    $("#upload").value = body.upload_id;
    say(said, `${file.name}: ${new Intl.NumberFormat().format(body.export_bytes)} bytes, Lean ${body.lean?.version ?? "of no version given"}, SHA-256 ${body.export_sha256}`);
    $("#declarations").focus();
  } catch (error) {
    if (!signal.aborted) say(said, `${file.name} was not taken: ${error instanceof TypeError ? "the service cannot be reached" : error.message}`); // fetch fails with a TypeError
  }
}

/** Uploads the file that was chosen; of several none, because a check is about one. */
function uploadOne(files) {
  if (files.length > 1) say($("#uploaded"), `${files.length} files: choose one, a check is about one export.`);
  else if (files[0]) upload(files[0]);
}

const drop = $("#drop");
if (drop) {
  $("#sample").addEventListener("click", async (event) => {
    const answer = await fetch(event.currentTarget.dataset.sample).catch(() => undefined);
    if (answer?.ok) upload(new File([await answer.blob()], "and_swap.ndjson"));
    else say($("#uploaded"), "The sample could not be loaded.");
  });
  $("#file").addEventListener("change", (event) => uploadOne(event.target.files));
  for (const kind of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", kind === "dragover");
      if (kind === "drop") uploadOne(event.dataTransfer.files);
    });
  }
}
