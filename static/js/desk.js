// The desk keeps its list while reports are opened beside it; the address says which one is open.
import { say } from "./page.js";

function settle() {
  const desk = document.getElementById("desk");
  if (!desk) return;
  const query = new URLSearchParams(location.search);
  const item = query.get("item");
  const pane = query.get("pane") ?? (item ? "talk" : "list");
  for (const panes of document.querySelectorAll(".bar[data-pane], .desk")) panes.dataset.pane = pane;
  document.body.toggleAttribute("data-mode", pane !== "list");
  if (pane !== "list") document.body.dataset.mode = "focus";
  mark(item);
  show();
}

function mark(item) {
  for (const row of document.querySelectorAll(".rep[aria-current]")) row.removeAttribute("aria-current");
  const row = item && document.getElementById(`r-${item}`);
  if (!row) return;
  row.setAttribute("aria-current", "true");
  row.scrollIntoView({ block: "nearest" });
}

/** The rated message in the upper half of its pane. */
function show() {
  const pane = document.getElementById("desk-talk");
  const rated = pane?.querySelector(".rated");
  if (!rated) return;
  if (pane.scrollHeight <= pane.clientHeight) return rated.scrollIntoView({ block: "nearest" });
  const gap = rated.getBoundingClientRect().top - pane.getBoundingClientRect().top;
  if (gap > pane.clientHeight / 2) pane.scrollTop += gap - pane.clientHeight / 4;
}

document.body.addEventListener("htmx:pushedIntoHistory", () => {
  settle();
  if (document.getElementById("desk")) say(document.querySelector(".rep[aria-current] a")?.textContent ?? "");
});
if (document.getElementById("desk")) show();
