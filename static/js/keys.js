// The keyboard. Off while typing, in dialogs and menus, with modifiers and during a pending request.
import { all, say, whenShown } from "./page.js";

const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";
const OVERLAYS = "dialog[open], [popover]:popover-open, details.menu[open]";
let prefix = 0;

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.defaultPrevented) return;
  if (inField(event) || inRoving(event) || inMenu(event)) return event.preventDefault();
  if (event.key === "Escape") return closeMenus() || document.querySelector("#bulk[data-on]")?.reset();
  if (event.ctrlKey || event.metaKey || event.altKey || event.getModifierState("AltGraph")) return;
  if (event.target.closest(TYPING) || document.querySelector(OVERLAYS) || document.querySelector("form.htmx-request")) return;
  if (plain(event.key)) event.preventDefault();
});

/** Keys that work where text is typed: send, and leave. */
function inField(event) {
  const field = event.target.closest(TYPING);
  if (!field) return false;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && "submit" in field.dataset) {
    const verb = field.dataset.submit;
    const button = field.form.querySelector(verb ? `button[value="${verb}"]` : ".btn[data-kind=primary]");
    // A click, not requestSubmit(button): htmx sends the name of the button that was clicked.
    button ? button.click() : field.form.requestSubmit();
    return true;
  }
  if (event.key !== "Escape") return false;
  if (!cancel(field) && !closeMenus()) field.blur();
  return true;
}

/** A form that was opened under a message goes away again; what was typed stays a draft. */
function cancel(inside) {
  const form = inside.closest(".rate");
  const slot = form?.closest("[id^=form-]");
  if (!slot) return false;
  form.remove();
  slot.closest(".msg, .call")?.querySelector(".msg-acts a")?.focus({ preventScroll: true });
  return true;
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-cancel]") && cancel(event.target)) event.preventDefault();
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
  const jump = event.target.closest("[data-jump]");
  if (jump && !event.ctrlKey && !event.metaKey && leap(jump.dataset.jump)) event.preventDefault();
});

function closeMenus() {
  const menu = document.querySelector("details.menu[open]");
  if (!menu) return false;
  menu.open = false;
  menu.querySelector("summary").focus();
  return true;
}

function inMenu(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const menu = by && event.target.closest?.("details.menu[open]");
  const stops = menu ? [...menu.querySelectorAll("summary, a, button")] : [];
  stops.at((stops.indexOf(event.target) + by) % stops.length)?.focus();
  return stops.length > 0;
}

function plain(key) {
  if (prefix && Date.now() - prefix < 1200) {
    prefix = 0;
    return press(`[data-go="${CSS.escape(key)}"]`);
  }
  if (key === "g") return (prefix = Date.now()) > 0;
  if (key === "?") return openSheet();
  if (key === "/") return focus("#q");
  return document.getElementById("talk") ? onThread(key) : onList(key);
}

function onThread(key) {
  const jumps = { e: "error", r: "rating", t: "call" };
  if (jumps[key.toLowerCase()]) return leap(jumps[key.toLowerCase()]);
  if (key === "j" || key === "k") return step(key === "j" ? 1 : -1);
  if (key === "o") return unfold();
  return key === "f" && press(`#${reached()?.id} > .msg-by [form=fork]`);
}

function onList(key) {
  const desk = document.querySelector("[data-desk]");
  if (key === "j" || key === "k") return rove(document.querySelector("[data-roving]"), key === "j" ? 1 : -1, Boolean(desk));
  if (key === "o") return open();
  if (!document.getElementById("desk")) return false;
  return onDesk(key);
}

/** Keys act on what is shown, so they wait until the report that was asked for is. */
function onDesk(key) {
  if (document.querySelector("#desk[aria-busy=true]")) return true;
  const row = document.activeElement.closest(".rep") ?? document.querySelector(".rep[aria-current]") ?? document.querySelector(".rep");
  if (key === "x") return press(row && `#${row.id} input`);
  if (key === "n") return free(row);
  if (document.querySelector("#bulk[data-on]")) {
    if (key === "l") return unfoldMenu(document.querySelector("#bulk details"));
    const verb = { e: "resolve", a: "own" }[key];
    if (verb) return press(`#bulk [value=${verb}]`);
  }
  if (key === "l" || key === "m") return focus(key === "l" ? "#admin-label" : "#admin-note");
  const found = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  return found?.matches("summary") ? unfoldMenu(found.parentElement) : press(`[data-key="${CSS.escape(key)}"]`);
}

/** The next report that nobody else has. */
function free(row) {
  const rows = [...document.querySelectorAll(".rep")];
  const after = rows.slice(row?.matches("[aria-current]") ? rows.indexOf(row) + 1 : 0);
  const link = after.find((each) => !each.matches("[data-held], [data-owned]"))?.querySelector("a");
  link?.focus();
  link ? link.click() : say("Others hold the rest of this page");
  return true;
}

function unfoldMenu(menu) {
  menu.open = true;
  menu.querySelector(":is(input, button):not([type=hidden])")?.focus();
  return true;
}

function openSheet() {
  document.getElementById("keys")?.showPopover();
  return true;
}

function press(selector) {
  const found = selector && document.querySelector(selector);
  found?.click();
  return Boolean(found);
}

function focus(selector) {
  const found = document.querySelector(selector);
  found?.focus();
  found?.setSelectionRange(found.value.length, found.value.length);
  return Boolean(found);
}

function open() {
  const link = document.activeElement.closest("[data-roving] a");
  link?.click();
  return Boolean(link);
}

// Lists are one stop of the tab key; inside them arrows, j and k move.

function stops(list) {
  return [...list.querySelectorAll(list.matches("table") ? ".title a" : "a")];
}

function rove(list, by, opens = false) {
  const links = list ? stops(list) : [];
  if (!links.length) return false;
  const at = links.indexOf(document.activeElement);
  const open = links.findIndex((link) => link.closest("[aria-current]"));
  const from = at < 0 ? open : opens && open < 0 ? at - by : at;
  const next = links[Math.max(0, Math.min(links.length - 1, from + by))];
  settle(list, next);
  next.focus();
  if (opens && links.indexOf(next) !== from) next.click();
  return true;
}

function settle(list, current) {
  for (const link of stops(list)) link.setAttribute("tabindex", link === current ? "0" : "-1");
}

function inRoving(event) {
  const list = event.target.closest?.("[data-roving]");
  const by = { ArrowDown: 1, ArrowUp: -1, Home: -1e6, End: 1e6 }[event.key];
  return Boolean(list && by && event.target.closest("a") && rove(list, by));
}

function prepare(list) {
  const links = stops(list);
  settle(list, links.find((link) => link.closest("[aria-current]")) ?? links[0]);
}

whenShown((root) => {
  const list = root.closest?.("[data-roving]");
  [...all("[data-roving]", root), ...(list && list !== root ? [list] : [])].forEach(prepare);
});

// A transcript is walked by turns, and leapt through by what went wrong, what was rated and what was called.

const KINDS = {
  error: ".call[data-outcome=error], .fault[data-tone=neg]",
  rating: ".msg-form:has(.margin[aria-label^=Rating])",
  call: ".call",
};

function turns() {
  return [...document.querySelectorAll("#talk > .msg[data-index]")];
}

/** Where reading starts, below the bars. */
function edge() {
  return parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 112;
}

function reached() {
  const focused = document.activeElement.closest?.("#talk > .msg[data-index]");
  return focused ?? turns().find((turn) => turn.getBoundingClientRect().bottom > edge() + 8);
}

function step(by) {
  const list = turns();
  if (!list.length) return false;
  const at = reached();
  const isAhead = by > 0 && at && !at.contains(document.activeElement) && below(at);
  const next = list[list.indexOf(at) + (isAhead ? 0 : by)];
  if (next) arrive(next);
  return Boolean(next);
}

let leapt = null;

function leap(kind) {
  const found = [...document.querySelectorAll(`#talk :is(${KINDS[kind]})`)];
  if (!found.length) return false;
  const at = found.indexOf(leapt?.isConnected ? leapt : document.activeElement.closest(KINDS[kind]));
  const next = at >= 0 ? found[(at + 1) % found.length] : (found.find(below) ?? found[0]);
  leapt = next;
  arrive(next);
  say(`${found.indexOf(next) + 1} of ${found.length}`);
  return true;
}

function below(element) {
  return element.getBoundingClientRect().top > edge() - 8;
}

function arrive(element) {
  const target = element.matches("details") ? element.querySelector("summary") : element;
  if (!target.matches("summary")) target.tabIndex = -1;
  target.focus({ preventScroll: true });
  element.scrollIntoView({ block: "start" });
}

function unfold() {
  const details = document.activeElement.closest("details") ?? reached()?.querySelector("details");
  if (!details) return false;
  details.open = !details.open;
  return true;
}
