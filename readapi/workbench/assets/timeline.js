// A timeline looked at closer by pointer and keys. What is seen is asked of the service, as the links below the drawing do.
"use strict";

(() => {
  const drawing = () => $("svg.timeline");
  const drag = { from: null, moving: false };
  let wheel = 1, at = 0, timer;

  /** What the drawing shows, in milliseconds since the burst's first activity, and where its time lies in its own units. */
  function windowOf(svg) {
    const of = (name) => Number(svg.dataset[name]);
    return { begin: of("begin"), end: of("end"), first: of("first"), last: of("last"), left: of("left"), right: of("right") };
  }

  /** The place of a pointer in the drawing's own units, between its margins. */
  function unitsOf(svg, event) {
    const w = windowOf(svg), x = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
    return Math.min(w.right, Math.max(w.left, x));
  }
  function timeOf(svg, units) {
    const w = windowOf(svg);
    return w.begin + ((units - w.left) / (w.right - w.left)) * (w.end - w.begin);
  }

  /** Shows a stretch of the time, moved and cut so that it lies within the whole. */
  function look(svg, begin, end) {
    const w = windowOf(svg), shortest = 10;
    const length = Math.min(w.last - w.first, Math.max(shortest, Math.round(end - begin)));
    begin = Math.min(w.last - length, Math.max(w.first, Math.round(begin)));
    if (begin === w.begin && begin + length === w.end) return;
    const address = new URL(location.href);
    for (const [name, value] of [["begin", begin], ["end", begin + length]]) address.searchParams.set(name, value);
    if (length === w.last - w.first) for (const name of ["begin", "end"]) address.searchParams.delete(name);
    const focused = svg.closest(".scroll") === document.activeElement;
    htmx.ajax("GET", address.pathname + address.search, { target: "#timeline", select: "#timeline", swap: "outerHTML" }).then(() => {
      history.replaceState(null, "", address);
      if (focused) $("#timeline .scroll")?.focus();
    });
  }
  function zoom(svg, factor, centre = 0.5) {
    const w = windowOf(svg), length = (w.end - w.begin) * factor;
    look(svg, w.begin + (w.end - w.begin - length) * centre, w.begin + (w.end - w.begin - length) * centre + length);
  }
  function move(svg, part) {
    const w = windowOf(svg), by = (w.end - w.begin) * part;
    look(svg, w.begin + by, w.end + by);
  }

  /** What is dragged over is looked at closer; with Shift the time is moved. A finger scrolls, as elsewhere. */
  document.addEventListener("pointerdown", (event) => {
    const svg = event.target.closest?.("svg.timeline");
    if (!svg || event.button !== 0 || event.pointerType === "touch" || event.target.closest("a")) return;
    event.preventDefault(); // no text is selected
    svg.closest(".scroll").focus();
    Object.assign(drag, { from: unitsOf(svg, event), moving: event.shiftKey });
    svg.setPointerCapture?.(event.pointerId);
  });
  document.addEventListener("pointermove", (event) => {
    const svg = drawing(), brush = svg && $(".brush", svg);
    if (drag.from === null || !brush || drag.moving) return;
    const to = unitsOf(svg, event);
    brush.setAttribute("x", Math.min(drag.from, to));
    brush.setAttribute("width", Math.abs(to - drag.from));
  });
  document.addEventListener("pointerup", (event) => {
    const svg = drawing(), from = drag.from;
    drag.from = null;
    if (from === null || !svg) return;
    $(".brush", svg).setAttribute("width", 0);
    const to = unitsOf(svg, event), w = windowOf(svg);
    if (Math.abs(to - from) < 4) return; // a click
    if (drag.moving) move(svg, (from - to) / (w.right - w.left));
    else look(svg, timeOf(svg, Math.min(from, to)), timeOf(svg, Math.max(from, to)));
  });
  document.addEventListener("pointercancel", () => { drag.from = null; });

  /** The wheel zooms with Ctrl, as a pinch on a touchpad does; without it the page scrolls. */
  document.addEventListener("wheel", (event) => {
    const svg = event.target.closest?.("svg.timeline");
    if (!svg || !event.ctrlKey) return;
    event.preventDefault();
    const w = windowOf(svg);
    wheel *= Math.exp(Math.max(-1, Math.min(1, event.deltaY / 100)) * 0.4);
    at = (unitsOf(svg, event) - w.left) / (w.right - w.left);
    clearTimeout(timer);
    timer = setTimeout(() => {
      const factor = wheel;
      wheel = 1;
      if (drawing()) zoom(drawing(), factor, at);
    }, 120);
  }, { passive: false });

  const keys = { "+": [zoom, 0.5], "=": [zoom, 0.5], "-": [zoom, 2], "<": [move, -1 / 3], ">": [move, 1 / 3], "0": [zoom, Infinity] };
  document.addEventListener("keydown", (event) => {
    const region = event.target.closest?.("#timeline .scroll"), does = keys[event.key];
    if (!region || !does || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const svg = drawing(), w = windowOf(svg);
    if (event.key === "0") look(svg, w.first, w.last);
    else does[0](svg, does[1]);
  });
})();
