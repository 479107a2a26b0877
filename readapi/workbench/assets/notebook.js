// The notebook of a session: its address, so that it is there when the page is opened again, and its file.
"use strict";

/** The file that the cells are saved in. */
function notebookName() {
  const session = $("#session")?.value.trim();
  return (session && /^[\w.-]{1,64}$/.test(session) ? session : "notebook") + ".md";
}

/** The page's address names the session that was evaluated in: what is opened again shows its cells. */
document.addEventListener("htmx:afterRequest", (event) => {
  const form = event.detail.elt, session = form.querySelector('[name="session_id"]')?.value;
  if (!form.matches("#evaluate, .again") || location.pathname !== "/" || !event.detail.xhr.status) return;
  history.replaceState(null, "", session ? "/?session_id=" + encodeURIComponent(session) : "/");
  const field = $("#session");
  if (field && form.matches(".again")) field.value = session ?? "";
});

/** A drawing that cannot be had now leaves the one before it; why the form is not done for who is signed in stands in its place. */
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target.id === "diagram" && event.detail.xhr.status >= 400 && ![401, 409].includes(event.detail.xhr.status)) event.detail.shouldSwap = false;
});
