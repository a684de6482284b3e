// The desk keeps its list while reports are opened beside it; the address says which one is open.
import { adopt, say } from "./page.js";

const PARTS = ["desk-tabs", "desk-talk", "desk-report", "dock"];
const FRESH = 20000;
const ahead = new Map();
const part = (id) => document.getElementById(id);
const row = () => document.querySelector(".rep[aria-current]");
const opened = () => new URLSearchParams(location.search).get("item");
let leases;
let held = "";

function settle() {
  const pane = new URLSearchParams(location.search).get("pane") ?? (opened() ? "talk" : "list");
  if (part("desk").dataset.pane !== pane) scrollTo(0, 0);
  for (const panes of document.querySelectorAll(".bar[data-pane], .desk")) panes.dataset.pane = pane;
  pane === "list" ? delete document.body.dataset.mode : (document.body.dataset.mode = "focus");
  for (const here of document.querySelectorAll("main [name=here]")) here.value = location.pathname + location.search;
  mark(opened());
  document.querySelector("#desk-talk .rated")?.scrollIntoView({ block: "nearest" });
  lead();
  recall();
  tell();
  hold();
}

function mark(item) {
  row()?.removeAttribute("aria-current");
  const found = item && part(`r-${item}`);
  found?.setAttribute("aria-current", "true");
  found?.scrollIntoView({ block: "nearest" });
}

/** Where the form of the report goes on to: the row below it, else the one above, else the list. */
function lead() {
  const near = row() ? [row().nextElementSibling, row().previousElementSibling] : [document.querySelector(".rep")];
  const [next, ...others] = near.map((each) => each?.querySelector("a")).filter(Boolean);
  const end = new URL(next?.href ?? location.href);
  if (!next) for (const key of ["item", "pane"]) end.searchParams.delete(key);
  const field = document.querySelector("#triage [name=next]");
  if (field && row()) field.value = end.pathname + end.search;
  for (const link of [next, ...others]) if (link) fetched(link.href);
}

/** A report's part of the page, fetched once within 20 seconds; empty where it has to be asked for as a page. */
function fetched(href) {
  const known = ahead.get(href);
  if (known && Date.now() - known.at < FRESH) return known.html;
  const html = fetch(href, { headers: { "Heddle-Part": "item", "HX-Request": "true" } })
    .then((answer) => (answer.ok ? answer.text() : ""))
    .catch(() => "");
  ahead.set(href, { at: Date.now(), html });
  return html;
}

/** Rows open what was fetched ahead. The one that was asked for last is shown, however the answers come in. */
document.addEventListener(
  "click",
  async (event) => {
    const href = event.target.closest?.(".rep a")?.href;
    if (!href || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    const item = new URL(href).searchParams.get("item");
    if (item === opened() && row()) return;
    part("desk").ariaBusy = true;
    for (const other of document.querySelectorAll("a.htmx-request")) window.htmx.trigger(other, "htmx:abort");
    if (document.querySelector("form.htmx-request")) {
      await new Promise((done) => document.addEventListener("htmx:afterRequest", done, { once: true }));
    }
    mark(item);
    const html = await fetched(href);
    if (row() !== part(`r-${item}`)) return;
    part("desk").ariaBusy = false;
    ahead.delete(href);
    if (!html) return location.assign(href);
    history.replaceState({ htmx: true }, "");
    history.pushState({ htmx: true }, "", href);
    put(html, PARTS);
    say(row()?.querySelector("a").textContent ?? "");
  },
  true,
);

function put(html, ids) {
  const page = new DOMParser().parseFromString(html, "text/html");
  document.title = page.title;
  for (const fresh of ids.map((id) => page.getElementById(id)).filter(Boolean)) {
    part(fresh.id)?.replaceWith(fresh);
    adopt(fresh);
  }
  settle();
  refocus();
}

/** Focus that went with what was replaced comes back to the row, or to the pane where the list is not shown. */
function refocus(goes) {
  if (!goes && document.activeElement !== document.body) return;
  const wrong = document.querySelector("#desk-report [aria-invalid], #bulk[data-on] .wrong + .btn");
  const link = row()?.querySelector("a") ?? document.querySelector(".rep a");
  const stop = wrong ?? (link?.offsetParent ? link : part(opened() ? "desk-talk" : "desk-rows"));
  stop?.focus({ preventScroll: true });
}

// What htmx brings. A refusal is a page of the desk like any other, but no place to come back to.

document.addEventListener("htmx:beforeSwap", (event) => {
  const { detail } = event;
  if (!part("desk") || detail.xhr.status < 400 || !detail.serverResponse.includes('id="desk"')) return;
  detail.shouldSwap = true;
  detail.isError = false;
});
document.addEventListener("htmx:beforeHistoryUpdate", ({ detail }) => {
  const here = location.pathname + location.search;
  if (detail.xhr.status >= 400) detail.history.path = here;
  if (detail.history.path === here) detail.history.type = "replace";
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!part("desk")) return;
  const item = held;
  const isDone = detail.successful && detail.xhr.status < 400;
  part("failed").hidden = detail.successful !== false || !detail.xhr.status;
  if (detail.requestConfig.verb === "post") ahead.clear();
  if (isDone && detail.requestConfig.path.endsWith("/bulk/")) sessionStorage.removeItem("ticks");
  part("desk").ariaBusy = false;
  settle();
  refocus(isDone && item && item !== held);
  const done = detail.requestConfig.verb === "post" ? words("[data-said]") : [];
  const wrong = words("main [role=alert]:not([hidden]), .wrong");
  say((wrong.length ? wrong : [...done, ...words(".rep[aria-current] a")]).join(". "));
});
const words = (selector) => [...document.querySelectorAll(selector)].map((each) => each.textContent.trim());
document.addEventListener("htmx:sendError", () => part("failed")?.removeAttribute("hidden"));

// Ticks survive paging; what is ticked on other pages goes along as hidden fields.

const ticks = () => new Set(JSON.parse(sessionStorage.getItem("ticks") ?? "[]"));

document.addEventListener("change", ({ target }) => {
  if (target.name !== "feedback_ids") return;
  const all = ticks();
  target.checked ? all.add(target.value) : all.delete(target.value);
  sessionStorage.setItem("ticks", JSON.stringify([...all]));
  recall();
});
document.addEventListener("reset", (event) => {
  if (event.target.id !== "bulk") return;
  sessionStorage.removeItem("ticks");
  setTimeout(recall);
});

function recall() {
  const form = part("bulk");
  const away = ticks();
  const count = away.size;
  for (const old of form.querySelectorAll("[data-away]")) old.remove();
  for (const box of document.querySelectorAll(".rep input")) box.checked = away.delete(box.value);
  for (const value of away) {
    const field = Object.assign(document.createElement("input"), { type: "hidden", name: "feedback_ids", value });
    field.dataset.away = "";
    form.append(field);
  }
  form.toggleAttribute("data-on", count > 0);
  form.querySelector("[data-ticked]").textContent = `${count} ticked`;
}

// Who is where. An open report is held for two minutes, again while it is looked at, and given back when it is left.

function hold() {
  const item = part("triage") && opened();
  if (held && held !== item) lease(held, new URLSearchParams({ leave: 1 }));
  if (item && item !== held) lease(item);
  held = item;
}

function lease(item, body) {
  const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
  const sent = { method: "POST", headers: { "X-CSRFToken": token }, body, keepalive: true };
  fetch(`/feedback/${item}/lease/`, sent).catch(() => {});
}

function tell() {
  if (!leases) return;
  for (const each of document.querySelectorAll(".rep")) {
    const slot = each.querySelector("[data-lease]");
    const name = leases[each.id.slice(2)];
    each.toggleAttribute("data-held", Boolean(name));
    slot.hidden = !name;
    slot.lastElementChild.textContent = `${name} is here`;
  }
  const note = part("held");
  const name = leases[opened()];
  if (!note) return;
  note.hidden = !name;
  note.lastElementChild.textContent = `${name} has this report open too.`;
}

function listen() {
  const source = new EventSource("/feedback/live/");
  const hear = (name, work) => source.addEventListener(name, (event) => work(event.data));
  hear("leases", (data) => {
    leases = JSON.parse(data);
    tell();
  });
  hear("changed", (data) => {
    ahead.clear();
    const note = part("changed");
    if (!note || !JSON.parse(data).includes(opened())) return;
    note.hidden = false;
    say("Somebody else changed this report just now.");
  });
  hear("bulks", async (data) => {
    const wasBusy = part("bulks").childElementCount;
    part("bulks").outerHTML = data;
    adopt(part("bulks"));
    if (!wasBusy || part("bulks").childElementCount) return;
    const page = await fetch(location.href).then((answer) => answer.text());
    put(page, ["desk-views", "desk-rows", "desk-status", "desk-count"]);
    say(document.querySelector("[data-said]")?.textContent ?? "");
  });
  hear("gone", () => source.close());
  addEventListener("pagehide", () => {
    source.close();
    if (held) lease(held, new URLSearchParams({ leave: 1 }));
  });
}

if (part("desk")) {
  settle();
  listen();
  setInterval(() => held && !document.hidden && lease(held), 60000);
  setInterval(() => {
    for (const time of document.querySelectorAll("[data-until]")) {
      const left = Math.max(0, Math.round((Date.parse(time.dateTime) - Date.now()) / 1000));
      time.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    }
  }, 1000);
}
