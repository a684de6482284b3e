// What is typed survives a reload, a closed form and a lost connection, for as long as the tab lives.
import { all, whenShown } from "./page.js";

const key = (field) => `draft ${field.dataset.draft}`;

document.addEventListener("input", ({ target }) => target.dataset?.draft && keep(target));

function keep(field) {
  if (field.value === field.defaultValue) sessionStorage.removeItem(key(field));
  else sessionStorage.setItem(key(field), field.value);
}

/** A field that goes with one button only stays a draft when another one is pressed. */
document.addEventListener("submit", (event) => {
  const pressed = event.submitter?.value ?? "";
  for (const field of all("[data-draft]", event.target)) {
    if (pressed.startsWith(field.dataset.with ?? "")) sessionStorage.removeItem(key(field));
  }
});

document.addEventListener("click", ({ target }) => {
  const id = target.dataset?.forget;
  if (id) for (const kind of ["note", "reply"]) sessionStorage.removeItem(`draft ${kind} ${id}`);
});

// htmx sends without leaving the page, so what did not arrive is a draft again.
for (const failure of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
  document.addEventListener(failure, ({ target }) => all("[data-draft]", target.closest("form") ?? target).forEach(keep));
}

whenShown((root) => {
  for (const field of all("[data-draft]", root)) {
    const draft = sessionStorage.getItem(key(field));
    if (draft === null || draft === field.value || field.value !== field.defaultValue) continue;
    field.value = draft;
    field.toggleAttribute("data-kept", Boolean(field.defaultValue)); // where the page says something else, it is told
  }
});
