// What is typed survives a reload, a closed form and a lost connection, for as long as the tab lives.
import { all, whenShown } from "./page.js";

const KEY = "draft ";

document.addEventListener("input", (event) => {
  const field = event.target;
  if (!field.dataset?.draft) return;
  if (field.value === field.defaultValue) sessionStorage.removeItem(KEY + field.dataset.draft);
  else keep(field);
});

/** A field that goes with one button only stays a draft when another one is pressed. */
document.addEventListener("submit", (event) => {
  const pressed = event.submitter?.value ?? "";
  all("[data-draft]", event.target).forEach((field) => pressed.startsWith(field.dataset.with ?? "") && forget(field));
});

document.addEventListener("click", (event) => {
  const id = event.target.dataset?.forget;
  if (id) for (const kind of ["note", "reply"]) sessionStorage.removeItem(`${KEY}${kind} ${id}`);
});

// htmx sends without leaving the page, so what did not arrive is a draft again.
for (const failure of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
  document.addEventListener(failure, (event) => {
    const form = event.target.closest?.("form") ?? event.target;
    all("[data-draft]", form).forEach(keep);
  });
}

whenShown((root) => {
  for (const field of all("[data-draft]", root)) {
    const draft = sessionStorage.getItem(KEY + field.dataset.draft);
    if (draft === null || draft === field.value || field.value !== field.defaultValue) continue;
    field.value = draft;
    note(field);
  }
});

function keep(field) {
  if (field.value !== field.defaultValue) sessionStorage.setItem(KEY + field.dataset.draft, field.value);
}

function forget(field) {
  sessionStorage.removeItem(KEY + field.dataset.draft);
}

/** Where the page itself says something else, the reader has to know that this is a draft. */
function note(field) {
  if (!field.defaultValue) return;
  const words = document.createElement("small");
  words.textContent = "Draft kept, not saved yet.";
  field.after(words);
}
