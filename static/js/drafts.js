// What is typed survives a reload, a closed form, a lost connection, while the tab lives.
import { all, on, one, whenShown } from "./page.js";

const kept = sessionStorage;
const key = (field) => `draft ${field.dataset.draft}`;

on("input", ({ target }) => target.dataset?.draft && keep(target));

function keep(field) {
  if (field.value === field.defaultValue) delete kept[key(field)];
  else kept[key(field)] = field.value;
}

const forget = (keys) => keys.forEach((each) => delete kept[each]);

/** What goes with the button; a field of another one is not among them. */
const sent = (form, button) =>
  all("[data-draft]", form).filter((field) => (button?.value ?? "").startsWith(field.dataset.with ?? "")).map(key);

// A draft ends when it is taken: as the answer says or, without htmx, the page that comes next.
on("htmx:beforeOnLoad", ({ detail: { xhr, requestConfig } }) => {
  if (xhr.status < 400) forget(sent(requestConfig.elt, requestConfig.triggeringEvent?.submitter));
});
on("submit", (event) => {
  if (!event.defaultPrevented) kept.sent = JSON.stringify(sent(event.target, event.submitter));
});
if (!one(".door, [data-why]")) forget(JSON.parse(kept.sent ?? "[]"));
delete kept.sent;

on("click", ({ target }) => {
  const id = target.dataset?.forget;
  if (id) forget(["note", "reply"].map((kind) => `draft ${kind} ${id}`));
});

whenShown((root) => {
  for (const field of all("[data-draft]", root)) {
    const draft = kept[key(field)];
    if (draft == null || draft === field.value || field.value !== field.defaultValue) continue;
    field.value = draft;
    field.toggleAttribute("data-kept", !!field.defaultValue); // where the page says something else, it is told
  }
});
