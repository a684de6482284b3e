// A transcript kept as the server has it. Every event carries the token behind it: a broken line resumes there.
import { adopt, all, enter, focused, forgive, on, one, parsed, part, say } from "./page.js";

const SECRET = "[name=csrfmiddlewaretoken]";
const talk = one("[data-live]");
let source, token;
let wait = 1e3;

connect();
addEventListener("scroll", () => atEnd() && delete talk.dataset.below);
addEventListener("pagehide", () => source.close());
addEventListener("pageshow", (event) => event.persisted && connect());
// What a form brought may be older than what the line told: a new line begins with the head.
on("htmx:afterSettle", ({ target }) => target.matches("#write, #asked") && connect());

function connect() {
  source?.close();
  const url = new URL(talk.dataset.live, location);
  if (token) url.searchParams.set("token", token);
  source = new EventSource(url);
  source.onopen = () => (forgive(), delete talk.dataset.lost, (wait = 1e3));
  source.onerror = () => ((talk.dataset.lost = ""), source.readyState === EventSource.CLOSED && again());
  listen("turns", bring(place));
  listen("head", bring(exchange));
  listen("reset", drop);
  listen("gone", gone);
}

/** The browser reconnects by itself; a refused line is tried again, or given up with its page. */
function again() {
  setTimeout(async () => {
    const { status } = await fetch("", { redirect: "manual" }).catch(() => ({ status: 500 }));
    status === 200 || status >= 500 ? connect() : gone();
  }, wait);
  wait = Math.min(wait * 2, 3e4);
}

function listen(name, work) {
  source.addEventListener(name, (event) => {
    token = event.lastEventId || token;
    const stays = atEnd();
    work(event.data);
    if (stays) scrollTo({ top: 1e9, behavior: "instant" });
    else if (name === "turns") talk.dataset.below = "";
  });
}

/** What comes has the form token of this page. */
function bring(work) {
  return (html) => {
    const body = parsed(html);
    for (const secret of all(SECRET, body)) secret.value = one(SECRET).value;
    for (const fresh of [...body.children]) put(fresh, work);
  };
}

// A form that waits must stay where htmx looks for it: what comes for it is put aside.
const aside = new Map();

function put(fresh, work) {
  const held = part(fresh.id);
  aside.delete(fresh.id); // older than this, even where this changes nothing
  if (held && all(".htmx-request", held)[0]) aside.set(fresh.id, () => put(fresh, work));
  else work(fresh, held);
}

on("htmx:afterRequest", () => [...aside.values()].forEach((work) => work()));

/** Who reads at the end is kept there, but not who fills in a form above it. */
function atEnd() {
  return !focused().closest(".rate") && innerHeight + scrollY > document.documentElement.scrollHeight - 96;
}

/** Put an article where its number says, or in place of the one it replaces. */
function place(article, held) {
  part("silence")?.remove();
  if (held?.matches(".msg")) return replace(held, article);
  const later = turns().find((other) => number(other) > number(article));
  talk.insertBefore(article, later ?? part("asked"));
  adopt(article);
}

const turns = () => all("[data-index]", talk);
const number = (article) => +article.dataset.index;

function drop(index) {
  for (const article of turns()) if (number(article) >= index) article.remove();
}

/** Exchange an element for its newer self, unless nothing has changed. */
function exchange(fresh, held) {
  if (!held || telling(held) === telling(fresh) || tells(held, fresh)) return;
  const [before, after] = [held, fresh].map((head) => one("#status", head)?.dataset.said);
  if (after !== before) say(after);
  replace(held, fresh);
}

/** As it came, whatever was opened or typed in it since. */
const telling = (element) => (element.telling ??= element.outerHTML);

/** What was refused stays to be read while the same tools wait. */
function tells(held, fresh) {
  const uses = (form) => all("[name=tool_use_id]", form).map((field) => field.value).join();
  return held.id !== "head" && one(".wrong, [role=alert]", held) && uses(held) === uses(fresh);
}

/** What the reader has opened, typed or focused stays as it is. */
function replace(held, fresh) {
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
    const [loaded, empty] = [details, twin].map((call) => one(".call-io", call));
    if (loaded && empty && details.dataset.outcome === twin.dataset.outcome) empty.replaceWith(loaded);
  }
}

function keepTyped(held, fresh) {
  for (const form of all("[id^=form-]", held)) {
    if (form.children.length) namesake(form, fresh)?.replaceWith(form);
  }
  for (const field of all("textarea[id], input[id]", held)) {
    const twin = namesake(field, fresh);
    if (twin) field.placeholder = twin.placeholder;
    twin?.replaceWith(field);
  }
}

const namesake = (element, root) => one(`#${CSS.escape(element.id)}`, root);

const reachable = (root) => all("a[href], button, summary, input, textarea, [tabindex]", root);

/** A moved node loses its focus: given back to itself, its namesake, or what stands in its place. */
function remember(held) {
  const had = focused();
  if (!held.contains(had)) return;
  const at = reachable(held).indexOf(had);
  return (fresh) => {
    const target = had.isConnected ? had : part(had.id) || reachable(fresh)[at] || fresh;
    if (target === fresh) fresh.tabIndex = -1;
    enter(target);
  };
}

function gone() {
  source.close();
  for (const form of all("#asked, #write")) form.remove();
  part("gone").hidden = false;
  say(part("gone").textContent);
}
