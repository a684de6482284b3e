// The keyboard. What has a data-key is pressed, entered or opened by it; off while typing, in overlays and while a form
// is under way.
import { all, say, whenShown } from "./page.js";

const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";
const OVERLAYS = "dialog[open], [popover]:popover-open, details.menu[open]";
const one = (selector) => document.querySelector(selector);
let went = 0;

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.defaultPrevented) return;
  if (inField(event) || inList(event)) return event.preventDefault();
  if (event.key === "Escape") return closeMenus() || one("#bulk[data-on]")?.reset();
  if (event.ctrlKey || event.metaKey || event.altKey || event.getModifierState("AltGraph")) return;
  if (event.target.closest(TYPING) || one(OVERLAYS) || one("form.htmx-request")) return;
  if (plain(event.key.toLowerCase())) event.preventDefault();
});

/** Keys that work where text is typed: send, and leave. */
function inField(event) {
  const field = event.target.closest(TYPING);
  if (!field) return false;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && "submit" in field.dataset) {
    const verb = field.dataset.submit;
    // A click, not requestSubmit(button): htmx sends the name of the button that was clicked.
    return press(field.form.querySelector(verb ? `button[value="${verb}"]` : ".btn[data-kind=primary]"));
  }
  if (event.key !== "Escape") return false;
  if (!cancel(field) && !closeMenus()) field.blur();
  return true;
}

/** A form that was opened under a message goes away again; what was typed stays a draft. */
function cancel(inside) {
  const form = inside.closest(".rate");
  const opener = form?.closest(".msg, .call").querySelector(".msg-acts a");
  if (!opener) return false;
  form.remove();
  opener.focus({ preventScroll: true });
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
  const menu = one("details.menu[open]");
  if (!menu) return false;
  menu.open = false;
  menu.querySelector("summary").focus();
  return true;
}

function plain(key) {
  const isSecond = Date.now() - went < 1200;
  went = 0;
  if (isSecond) return use(`g ${key}`);
  if (key === "g") return (went = Date.now()) > 0;
  if (key === "j" || key === "k") return move(key === "j" ? 1 : -1);
  if (key === "o") return open();
  if (key === "x") return tick();
  if (key === "n") return free();
  return use(key) || (key === "f" && press(reached()?.querySelector(":scope > .msg-by [form=fork]")));
}

/** What stands for a key, first among what is done to all that is ticked; at a report that is still to come, then. */
function use(key) {
  const named = `[data-key="${CSS.escape(key)}"]`;
  const found = one(`#bulk[data-on] ${named}`) ?? one(`${named}:not(#bulk *)`);
  if (one("#desk[aria-busy=true]") && !found?.closest("#bulk, footer, .bar, header")) {
    document.addEventListener("htmx:afterSettle", () => setTimeout(use, 0, key), { once: true });
    return true;
  }
  if (!found) return false;
  if (found.matches("summary")) {
    found.parentElement.open = true;
    found.parentElement.querySelector(":is(input, button):not([type=hidden])")?.focus();
  } else if (found.matches(TYPING)) {
    found.focus();
    found.setSelectionRange(found.value.length, found.value.length);
  } else found.click();
  return true;
}

function press(found) {
  found?.click();
  return Boolean(found);
}

function open() {
  const details = document.activeElement.closest("details") ?? reached()?.querySelector("details");
  if (details) details.open = !details.open;
  return Boolean(details) || press(document.activeElement.closest("[data-roving] a"));
}

function tick() {
  const row = document.activeElement.closest(".rep") ?? one(".rep[aria-current]") ?? one(".rep");
  return press(row?.querySelector("input"));
}

/** The next report that nobody else has. */
function free() {
  const below = one(".rep[aria-current]") ? ".rep[aria-current] ~ " : "";
  const link = one(`${below}.rep:not([data-held], [data-owned]) a`);
  link?.focus();
  if (!press(link) && one("#desk")) say("Others hold the rest of this page");
  return true;
}

// Lists are one stop of the tab key; inside them, and in menus, arrows move. So do j and k in the list of a page.

const ARROWS = { ArrowDown: 1, ArrowUp: -1, Home: -1e6, End: 1e6 };

function inList(event) {
  const list = ARROWS[event.key] && event.target.closest?.("[data-roving], details.menu[open]");
  return Boolean(list && event.target.closest("a, button, summary") && rove(list, ARROWS[event.key]));
}

function stops(list) {
  return [...list.querySelectorAll(list.matches("table") ? ".title a" : "a, button")];
}

function rove(list, by, opens = false) {
  const links = list ? stops(list) : [];
  if (!links.length) return false;
  const at = links.indexOf(document.activeElement);
  const open = links.findIndex((link) => link.closest("[aria-current]"));
  const from = at < 0 ? open : opens && open < 0 ? at - by : at;
  const next = links[Math.max(0, Math.min(links.length - 1, from + by))];
  settle(links, next);
  next.focus();
  if (opens && links.indexOf(next) !== from) next.click();
  return true;
}

function settle(links, current) {
  for (const link of links) link.setAttribute("tabindex", link === current ? "0" : "-1");
}

whenShown((root) => {
  for (const list of new Set([...all("[data-roving]", root), root.closest("[data-roving]")])) {
    const links = list ? stops(list) : [];
    settle(links, links.find((link) => link.closest("[aria-current]")) ?? links[0]);
  }
});

// A transcript is walked by turns, and leapt through by what went wrong, what was rated and what was called.

const KINDS = {
  error: ".call[data-outcome=error], .fault[data-tone=neg]",
  rating: ".msg-form:has(.margin[aria-label^=Rating])",
  call: ".call",
};
const turns = () => [...document.querySelectorAll("#talk > .msg[data-index]")];

/** Where reading starts, below the bars. */
function edge() {
  return parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 112;
}

function reached() {
  const focused = document.activeElement.closest?.("#talk > .msg[data-index]");
  return focused ?? turns().find((turn) => turn.getBoundingClientRect().bottom > edge() + 8);
}

function move(by) {
  const list = turns();
  if (!list.length) return rove(one("[data-roving]"), by, Boolean(one("#desk")));
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
  leapt = at >= 0 ? found[(at + 1) % found.length] : (found.find(below) ?? found[0]);
  arrive(leapt);
  say(`${found.indexOf(leapt) + 1} of ${found.length}`);
  return true;
}

const below = (element) => element.getBoundingClientRect().top > edge() - 8;

function arrive(element) {
  const target = element.matches("details") ? element.querySelector("summary") : element;
  if (target === element) target.tabIndex = -1;
  target.focus({ preventScroll: true });
  element.scrollIntoView({ block: "start" });
}
