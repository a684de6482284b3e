// The desk keeps its list while reports are opened beside it; the address says which one is open.
import { say } from "./page.js";

const ahead = new Map();
const part = (id) => document.getElementById(id);
const row = () => document.querySelector(".rep[aria-current]");
const opened = () => new URLSearchParams(location.search).get("item");
const swap = (html, ids) => window.htmx.swap(part("desk"), html, { swapStyle: "none" }, { selectOOB: ids });
let leases;
let bulks;
let held = "";

function settle() {
  const pane = new URLSearchParams(location.search).get("pane") ?? (opened() ? "talk" : "list");
  if (part("desk").dataset.pane !== pane) scrollTo(0, 0);
  part("desk").dataset.pane = pane;
  for (const here of document.querySelectorAll("main [name=here]")) here.value = location.pathname + location.search;
  mark(opened());
  document.querySelector("#desk-talk .rated")?.scrollIntoView({ block: "nearest" });
  lead();
  recall();
  tell();
  hold();
  progress();
}

/** How far bulks are, as the later of page and line has it: an end may be told before its beginning is shown. */
function progress() {
  const shown = part("bulks");
  const told = bulks?.querySelector("#bulks");
  if (!told || Number(told.dataset.at) <= Number(shown.dataset.at)) return;
  const isOver = shown.childElementCount && !told.childElementCount;
  swap(told.outerHTML, "#bulks");
  if (!isOver) return;
  const selectOOB = "#desk-views,#desk-rows,#desk-status,#desk-count";
  window.htmx.ajax("GET", location.href, { source: part("desk"), swap: "none", selectOOB }).then(() => say(done()));
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
  const hrefs = near.filter(Boolean).map((each) => each.querySelector("a").href);
  const end = new URL(hrefs[0] ?? location.href);
  if (!hrefs.length) for (const key of ["item", "pane"]) end.searchParams.delete(key);
  const field = document.querySelector("#triage [name=next]");
  if (field && row()) field.value = end.pathname + end.search;
  for (const href of hrefs) fetched(href);
}

/** A report's part of the page, fetched once within 20 seconds; empty where it has to be asked for as a page. */
function fetched(href) {
  if (ahead.has(href)) return ahead.get(href);
  const html = fetch(href, { headers: { "Heddle-Part": "item", "HX-Request": "true" } })
    .then((answer) => (answer.ok ? answer.text() : ""))
    .catch(() => "");
  ahead.set(href, html);
  setTimeout(() => ahead.get(href) === html && ahead.delete(href), 20000);
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
    swap(html, "#desk-tabs,#desk-talk,#desk-report,#dock");
    settle();
    refocus();
    say(row()?.querySelector("a").textContent ?? "");
  },
  true,
);

/** Focus that went with what was replaced comes back to the row, or to the pane where the list is not shown. */
function refocus(goes) {
  if (!goes && document.activeElement !== document.body) return;
  const wrong = document.querySelector("#desk-report [aria-invalid], #bulk[data-on] .wrong + .btn");
  const link = row()?.querySelector("a") ?? document.querySelector(".rep a");
  const stop = wrong ?? (link?.offsetParent ? link : part(opened() ? "desk-talk" : "desk-rows"));
  stop?.focus({ preventScroll: true });
}

// What htmx brings. A refusal is a page of the desk like any other, but no place to come back to.

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.xhr.status < 400 || !detail.serverResponse.includes('id="desk"')) return;
  detail.shouldSwap = true;
  detail.isError = false;
});
document.addEventListener("htmx:beforeHistoryUpdate", ({ detail }) => {
  const here = location.pathname + location.search;
  if (detail.xhr.status >= 400) detail.history.path = here;
  if (detail.history.path === here) detail.history.type = "replace";
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const item = held;
  const isPost = detail.requestConfig.verb === "post";
  const isDone = detail.successful && detail.xhr.status < 400;
  part("failed").hidden = detail.successful !== false || !detail.xhr.status;
  if (isPost) ahead.clear();
  if (isDone && detail.requestConfig.path.endsWith("/bulk/")) sessionStorage.removeItem("ticks");
  part("desk").ariaBusy = false;
  settle();
  refocus(isDone && item && item !== held);
  const wrong = words("main [role=alert]:not([hidden]), .wrong");
  say(wrong || [isPost && done(), words(".rep[aria-current] a")].filter(Boolean).join(". ").replace(".. ", ". "));
});
document.addEventListener("htmx:sendError", () => (part("failed").hidden = false));

const words = (selector) => [...document.querySelectorAll(selector)].map((each) => each.textContent.trim()).join(". ");
const done = () => words("[data-said]");

// Ticks survive paging: what is ticked on other pages goes along.

const ticks = () => new Set(JSON.parse(sessionStorage.getItem("ticks") ?? "[]"));

document.addEventListener("change", ({ target }) => {
  if (target.name !== "feedback_ids") return;
  const all = ticks();
  target.checked ? all.add(target.value) : all.delete(target.value);
  sessionStorage.setItem("ticks", JSON.stringify([...all]));
  recall();
});
document.addEventListener("reset", ({ target }) => {
  if (target.id !== "bulk") return;
  sessionStorage.removeItem("ticks");
  setTimeout(recall);
});

function recall() {
  const all = ticks();
  part("bulk").toggleAttribute("data-on", all.size > 0);
  document.querySelector("[data-ticked]").textContent = `${all.size} ticked`;
  for (const box of document.querySelectorAll(".rep input")) box.checked = all.has(box.value);
}

document.addEventListener("formdata", ({ target, formData }) => {
  if (target.id !== "bulk") return;
  formData.delete("feedback_ids");
  for (const id of ticks()) formData.append("feedback_ids", id);
});

// Who is where. An open report is held for two minutes, again while it is looked at, and given back when it is left.

function hold() {
  const item = part("triage") && opened();
  if (item === held) return;
  leave();
  if (item) lease(item);
  held = item;
}

function leave() {
  if (held) lease(held, new URLSearchParams({ leave: 1 }));
}

function lease(item, body) {
  const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
  const sent = { method: "POST", headers: { "X-CSRFToken": token }, body, keepalive: true };
  fetch(`/feedback/${item}/lease/`, sent).catch(() => {});
}

function tell() {
  if (!leases) return;
  for (const each of document.querySelectorAll(".rep")) {
    const name = leases[each.id.slice(2)];
    each.toggleAttribute("data-held", Boolean(name));
    show(each.querySelector("[data-lease]"), name && `${name} is here`);
  }
  const name = leases[opened()];
  show(part("held"), name && `${name} has this report open too.`);
}

function show(note, text) {
  if (!note) return;
  note.hidden = !text;
  note.lastElementChild.textContent = text ?? "";
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
  hear("bulks", (data) => {
    bulks = new DOMParser().parseFromString(data, "text/html");
    progress();
  });
  hear("gone", () => source.close());
  addEventListener("pagehide", () => {
    source.close();
    leave();
  });
}

settle();
listen();
setInterval(() => held && !document.hidden && lease(held), 60000);
