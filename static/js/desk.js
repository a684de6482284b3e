// The desk keeps its list while reports are opened beside it; the address says which one is open.
import { adopt, say } from "./page.js";

const PARTS = ["desk-tabs", "desk-talk", "desk-report", "dock"];
const FRESH = 20000;
const ahead = new Map();
let leases = {};

function desk() {
  return document.getElementById("desk");
}

function opened() {
  return new URLSearchParams(location.search).get("item");
}

function settle() {
  if (!desk()) return;
  const query = new URLSearchParams(location.search);
  const pane = query.get("pane") ?? (opened() ? "talk" : "list");
  for (const panes of document.querySelectorAll(".bar[data-pane], .desk")) panes.dataset.pane = pane;
  document.body.toggleAttribute("data-mode", pane !== "list");
  if (pane !== "list") document.body.dataset.mode = "focus";
  mark(opened());
  show();
  lead();
  recall();
  tell();
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

/** Where the forms of the report go on to: the row below it, else the one above. The next one is fetched ahead. */
function lead() {
  const row = document.querySelector(".rep[aria-current]");
  const next = row?.nextElementSibling ?? row?.previousElementSibling;
  const href = next?.querySelector("a")?.href;
  const end = new URL(location.href);
  end.searchParams.delete("item");
  for (const field of document.querySelectorAll("#desk-report input[name=next]")) {
    if (row) field.value = href ? new URL(href).pathname + new URL(href).search : end.pathname + end.search;
  }
  for (const near of row ? [row.nextElementSibling, row.previousElementSibling] : [document.querySelector(".rep")]) {
    const link = near?.querySelector("a");
    if (link) fetchAhead(link.href);
  }
}

function fetchAhead(href) {
  if (Date.now() - (ahead.get(href)?.at ?? 0) < FRESH) return;
  const html = fetch(href, { headers: { "Heddle-Part": "item", "HX-Request": "true" } })
    .then((answer) => (answer.ok ? answer.text() : ""))
    .catch(() => "");
  ahead.set(href, { at: Date.now(), html });
}

/** A report that was fetched ahead is put in place at once; anything else goes its usual way. */
document.addEventListener(
  "click",
  async (event) => {
    const link = event.target.closest?.(".rep a");
    const held = link && ahead.get(link.href);
    if (!held || Date.now() - held.at > FRESH || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    mark(new URL(link.href).searchParams.get("item"));
    const html = await held.html;
    ahead.delete(link.href);
    if (!html) return location.assign(link.href);
    if (link.closest(".rep") !== document.querySelector(".rep[aria-current]")) return;
    put(html, link.href);
  },
  true,
);

function put(html, href) {
  const page = new DOMParser().parseFromString(html, "text/html");
  history.pushState({ htmx: true }, "", href);
  document.title = page.title;
  for (const id of PARTS) {
    const part = page.getElementById(id);
    document.getElementById(id)?.replaceWith(part);
    adopt(part);
  }
  arrived();
}

function arrived() {
  settle();
  hold();
  if (desk()) say(document.querySelector(".rep[aria-current] a")?.textContent ?? "");
}

document.body.addEventListener("htmx:pushedIntoHistory", arrived);
document.body.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.requestConfig?.verb === "post") ahead.clear();
});
document.body.addEventListener("htmx:oobAfterSwap", (event) => [...PARTS, "desk-rows", "bulk"].includes(event.target.id) && settle());

// Ticks survive paging; what is ticked on other pages goes along as hidden fields.

function ticks() {
  return new Set(JSON.parse(sessionStorage.getItem("ticks") ?? "[]"));
}

document.addEventListener("change", (event) => {
  if (event.target.name !== "feedback_ids") return;
  const held = ticks();
  event.target.checked ? held.add(event.target.value) : held.delete(event.target.value);
  sessionStorage.setItem("ticks", JSON.stringify([...held]));
  recall();
});
for (const end of ["reset", "submit"]) {
  document.addEventListener(end, (event) => {
    if (event.target.id !== "bulk") return;
    sessionStorage.removeItem("ticks");
    if (end === "reset") setTimeout(recall);
  });
}

function recall() {
  const form = document.getElementById("bulk");
  if (!form) return;
  const held = ticks();
  for (const old of form.querySelectorAll("[data-away]")) old.remove();
  for (const box of document.querySelectorAll(".rep input")) box.checked = held.delete(box.value);
  for (const away of held) {
    const field = Object.assign(document.createElement("input"), { type: "hidden", name: "feedback_ids", value: away });
    field.dataset.away = "";
    form.append(field);
  }
  const count = ticks().size;
  form.toggleAttribute("data-on", count > 0);
  form.querySelector("[data-ticked]").textContent = `${count} ticked`;
}

// Who is where. An open report is held for two minutes, and again while it stays open and the page is looked at.

function hold() {
  const item = opened();
  const token = document.querySelector("#triage [name=csrfmiddlewaretoken]")?.value;
  if (!item || !token || document.hidden) return;
  fetch(`/feedback/${item}/lease/`, { method: "POST", headers: { "X-CSRFToken": token } }).catch(() => {});
}

function tell() {
  for (const row of document.querySelectorAll(".rep")) {
    const slot = row.querySelector("[data-lease]");
    const name = leases[row.id.slice(2)];
    slot.hidden = !name;
    slot.textContent = name ? `${name} is here` : "";
    if (name) row.dataset.held = "";
  }
}

function listen() {
  const source = new EventSource("/feedback/live/");
  source.addEventListener("leases", (event) => {
    leases = JSON.parse(event.data);
    tell();
  });
  source.addEventListener("changed", (event) => {
    ahead.clear();
    if (!JSON.parse(event.data).includes(opened())) return;
    const note = document.getElementById("changed");
    if (note) note.hidden = false;
    say("Somebody else changed this report just now.");
  });
  source.addEventListener("bulks", (event) => {
    const part = new DOMParser().parseFromString(event.data, "text/html").getElementById("bulks");
    document.getElementById("bulks")?.replaceWith(part);
    adopt(part);
  });
  source.addEventListener("gone", () => source.close());
  addEventListener("pagehide", () => source.close());
}

if (desk()) {
  settle();
  hold();
  listen();
  setInterval(hold, 60000);
  setInterval(() => {
    for (const time of document.querySelectorAll("[data-until]")) {
      const left = Math.max(0, Math.round((Date.parse(time.dateTime) - Date.now()) / 1000));
      time.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    }
  }, 1000);
}
