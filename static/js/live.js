// A transcript that is kept as the server has it. Every event carries the token behind it, so a broken line resumes there.
import { adopt, all, say } from "./page.js";

const SECRET = "[name=csrfmiddlewaretoken]";
const talk = document.querySelector("[data-live]");
let source = null;
let token = null;
let wait = 1000;

connect();
addEventListener("pagehide", () => source.close());
addEventListener("pageshow", (event) => event.persisted && connect());
// What a sent form brought back may be older than what the line told meanwhile: a new line begins with the head.
document.body.addEventListener("htmx:afterSettle", ({ target }) => target.matches("#write, #asked") && connect());

function connect() {
  source?.close();
  const url = new URL(talk.dataset.live, location.href);
  if (token) url.searchParams.set("token", token);
  source = new EventSource(url);
  source.onopen = () => (wait = 1000);
  source.onerror = () => source.readyState === EventSource.CLOSED && again();
  listen("turns", (data) => parse(data).forEach(place));
  listen("head", (data) => parse(data).forEach(exchange));
  listen("reset", (data) => drop(Number(data)));
  listen("gone", gone);
}

/** The browser reconnects by itself; only a refused line is ours to try again, or to give up. */
function again() {
  setTimeout(async () => ((await isRefused()) ? gone() : connect()), wait);
  wait = Math.min(wait * 2, 30000);
}

/** An EventSource does not tell why it was refused, so the line is asked for once more by hand. */
async function isRefused() {
  const asked = new AbortController();
  try {
    const answer = await fetch(source.url, { redirect: "manual", signal: asked.signal });
    asked.abort();
    return answer.type === "opaqueredirect" || (answer.status >= 400 && answer.status < 500);
  } catch {
    return false;
  }
}

function listen(name, work) {
  source.addEventListener(name, (event) => {
    token = event.lastEventId || token;
    const stays = atEnd();
    work(event.data);
    if (stays) scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
  });
}

/** What the line brought, with the form token of this page. */
function parse(html) {
  const box = document.createElement("template");
  box.innerHTML = html;
  for (const secret of all(SECRET, box.content)) secret.value = document.querySelector(SECRET).value;
  return [...box.content.children];
}

/** Who reads at the end is kept there, but not who is filling in a form somewhere above it. */
function atEnd() {
  return !document.activeElement.closest(".rate") && innerHeight + scrollY > document.documentElement.scrollHeight - 96;
}

/** Put an article where its number says, or in the place of the one that it replaces. */
function place(article) {
  const held = document.getElementById(article.id);
  document.getElementById("silence")?.remove();
  if (held && isBusy(held)) return aside.set(article.id, () => place(article));
  if (held?.matches(".msg")) return replace(held, article);
  const later = turns().find((other) => number(other) > number(article));
  talk.insertBefore(article, later ?? document.getElementById("asked"));
  adopt(article);
}

const turns = () => [...talk.querySelectorAll(":scope > .msg[data-index]")];
const number = (article) => Number(article.dataset.index);

function drop(index) {
  for (const article of turns()) if (number(article) >= index) article.remove();
}

/** Exchange an element with an id for its newer self, unless nothing has changed. */
function exchange(fresh) {
  const held = fresh.id && document.getElementById(fresh.id);
  if (held && isBusy(held)) return aside.set(fresh.id, () => exchange(fresh));
  aside.delete(fresh.id); // older than this, even where this changes nothing
  if (!held || telling(held) === telling(fresh) || tells(held, fresh)) return;
  announce(held, fresh);
  replace(held, fresh);
}

// A form that waits for its answer must stay where htmx will look for it, so what comes for it meanwhile is put aside.
const aside = new Map();

function isBusy(held) {
  return held.matches(".htmx-request") || held.querySelector(".htmx-request") !== null;
}

document.addEventListener("htmx:afterRequest", () => {
  const waiting = [...aside.values()];
  aside.clear();
  for (const work of waiting) work();
});

const seen = new WeakMap();

function telling(element) {
  if (!seen.has(element)) seen.set(element, element.outerHTML);
  return seen.get(element);
}

/** What was refused stays to be read while the same tools wait. */
function tells(held, fresh) {
  const uses = (form) => all("[name=tool_use_id]", form).map((field) => field.value).join();
  return held.id === "asked" && held.querySelector(".wrong, [role=alert]") && uses(held) === uses(fresh);
}

function announce(held, fresh) {
  const [before, after] = [held, fresh].map((head) => head.querySelector("#status")?.dataset.said);
  if (after !== before) say(after);
}

/** What the reader has opened, typed or focused stays as it is. */
function replace(held, fresh) {
  aside.delete(fresh.id);
  const focus = remember(held);
  telling(fresh);
  keepOpen(held, fresh);
  keepTyped(held, fresh);
  held.replaceWith(fresh);
  adopt(fresh);
  focus?.(fresh);
}

function keepOpen(held, fresh) {
  for (const details of all("details[open][id]", held)) {
    const twin = namesake(details, fresh);
    if (!twin) continue;
    twin.open = true;
    const [loaded, empty] = [details, twin].map((call) => call.querySelector(".call-io"));
    if (loaded && empty && details.dataset.outcome === twin.dataset.outcome) empty.replaceWith(loaded);
  }
}

function keepTyped(held, fresh) {
  for (const form of all("[id^=form-]", held)) {
    if (form.children.length) namesake(form, fresh)?.replaceWith(form);
  }
  for (const field of all("textarea[id], input[id]", held)) {
    const twin = namesake(field, fresh);
    if (!twin || twin === field) continue;
    field.placeholder = twin.placeholder;
    twin.replaceWith(field);
  }
}

function namesake(element, root) {
  return root.querySelector(`#${CSS.escape(element.id)}`);
}

const reachable = (root) => all("a[href], button, summary, input, textarea, [tabindex]", root);

/** Moving a node takes its focus away, so it is given back: to itself, its namesake, or what stands in its place. */
function remember(held) {
  const focused = document.activeElement;
  if (!held.contains(focused)) return null;
  // Fields without text to select, a radio button say, have a selectionStart too: null.
  const range = focused.selectionStart == null ? null : [focused.selectionStart, focused.selectionEnd];
  const at = reachable(held).indexOf(focused);
  return (fresh) => {
    const named = focused.id && document.getElementById(focused.id);
    const target = focused.isConnected ? focused : named || reachable(fresh)[at] || fresh;
    if (target === fresh) fresh.tabIndex = -1;
    target.focus({ preventScroll: true });
    if (range && target === focused) target.setSelectionRange(...range);
  };
}

function gone() {
  source.close();
  for (const form of all("#asked, #write")) form.remove();
  const words = "This thread is gone, or no longer yours to read. What you see is the last that was sent.";
  say(words);
  talk.append(Object.assign(document.createElement("p"), { className: "fault", textContent: words }));
}
