// A transcript that is kept as the server has it. Every event carries the token behind it, so a broken line resumes there.
import { adopt, all, say } from "./page.js";

const talk = document.querySelector("[data-live]");
const NEAR_END = 96;
let source = null;
let token = null;
let wait = 1000;
let isGone = false;

if (talk) {
  connect();
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => event.persisted && connect());
  document.body.addEventListener("htmx:afterSettle", (event) => event.detail.elt?.matches("#write, #asked") && afresh());
}

/** What a sent form brought back may be older than what the line told meanwhile: a new line begins with the head. */
function afresh() {
  source?.close();
  connect();
}

function connect() {
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
  if (isGone) return;
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
    document.dispatchEvent(new CustomEvent("heddle:changed"));
  });
}

function parse(html) {
  const box = document.createElement("template");
  box.innerHTML = html;
  return [...box.content.children];
}

/** Who reads at the end is kept there, but not who is filling in a form somewhere above it. */
function atEnd() {
  if (document.activeElement.closest(".rate")) return false;
  return innerHeight + scrollY >= document.documentElement.scrollHeight - NEAR_END;
}

/** Put an article where its number says, or in the place of the one that it replaces. */
function place(article) {
  const held = document.getElementById(article.id);
  document.getElementById("silence")?.remove();
  if (held && isBusy(held)) return put(article, place);
  if (held?.matches(".msg")) return replace(held, article);
  const index = Number(article.dataset.index);
  const later = [...talk.querySelectorAll(":scope > .msg[data-index]")].find((other) => Number(other.dataset.index) > index);
  talk.insertBefore(article, later ?? document.getElementById("asked"));
  adopt(article);
}

function drop(index) {
  for (const article of talk.querySelectorAll(":scope > .msg[data-index]")) {
    if (Number(article.dataset.index) >= index) article.remove();
  }
}

/** Exchange an element with an id for its newer self, unless nothing but the form token has changed. */
function exchange(fresh) {
  const held = fresh.id && document.getElementById(fresh.id);
  if (held && isBusy(held)) return put(fresh, exchange);
  aside.delete(fresh.id); // older than this, even where this changes nothing
  if (!held || telling(held) === telling(fresh) || tells(held, fresh)) return;
  if (fresh.id === "head") announce(held, fresh);
  replace(held, fresh);
}

// A form that waits for its answer must stay where htmx will look for it, so what comes for it meanwhile is put aside.
const aside = new Map();

function isBusy(held) {
  return held.matches(".htmx-request") || held.querySelector(".htmx-request") !== null;
}

function put(fresh, work) {
  aside.set(fresh.id, () => work(fresh));
}

document.addEventListener("htmx:afterRequest", () => setTimeout(takeUp, 50));

function takeUp() {
  const waiting = [...aside.values()];
  aside.clear();
  waiting.forEach((work) => work());
}

const SECRET = /(name="csrfmiddlewaretoken" value=")[^"]*/g;
const seen = new WeakMap();

function telling(element) {
  if (!seen.has(element)) seen.set(element, element.outerHTML.replace(SECRET, "$1"));
  return seen.get(element);
}

/** What was refused stays to be read while the same tools wait. */
function tells(held, fresh) {
  const uses = (form) => all("[name=tool_use_id]", form).map((field) => field.value).join();
  return held.id === "asked" && held.querySelector(".wrong, [role=alert]") && uses(held) === uses(fresh);
}

function announce(held, fresh) {
  const [before, after] = [held, fresh].map((head) => head.querySelector("#status"));
  if (!after || before?.dataset.status === after.dataset.status) return;
  const words = { roboto_turn: "The agent is answering", user_turn: "The answer is finished" };
  say(words[after.dataset.status] ?? after.textContent.trim());
}

/** What the reader has opened, typed or focused stays as it is. */
function replace(held, fresh) {
  aside.delete(fresh.id);
  const focus = remember(held);
  telling(fresh);
  keepSecrets(fresh);
  keepOpen(held, fresh);
  keepTyped(held, fresh);
  held.replaceWith(fresh);
  adopt(fresh);
  focus?.(fresh);
}

function keepSecrets(fresh) {
  const secret = document.querySelector("input[name=csrfmiddlewaretoken]")?.value;
  if (secret) for (const input of all("input[name=csrfmiddlewaretoken]", fresh)) input.value = secret;
}

function keepOpen(held, fresh) {
  for (const details of all("details[open][id]", held)) {
    const twin = fresh.querySelector(`#${CSS.escape(details.id)}`);
    if (!twin) continue;
    twin.open = true;
    const [loaded, empty] = [details, twin].map((call) => call.querySelector(".call-io"));
    if (loaded && empty && details.dataset.outcome === twin.dataset.outcome) empty.replaceWith(loaded);
  }
}

function keepTyped(held, fresh) {
  for (const form of all("[id^=form-]", held)) {
    if (form.children.length) fresh.querySelector(`#${CSS.escape(form.id)}`)?.replaceWith(form);
  }
  for (const field of all("textarea[id], input[id]", held)) {
    const twin = fresh.querySelector(`#${CSS.escape(field.id)}`);
    if (!twin || twin === field) continue;
    field.placeholder = twin.placeholder;
    twin.replaceWith(field);
  }
}

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

function reachable(root) {
  return all("a[href], button, summary, input, textarea, [tabindex]", root);
}

function gone() {
  isGone = true;
  source.close();
  for (const form of all("#asked, #write")) form.remove();
  say("This thread is gone, or no longer yours to read");
  const note = document.createElement("p");
  note.className = "fault";
  note.textContent = "This thread is gone, or no longer yours to read. What you see is the last that was sent.";
  talk.append(note);
}
