// Ids and payloads, copied by a click.
import { on, say } from "./page.js";

on("click", ({ target }) => {
  const button = target.closest("[data-copy], [data-copy-next]");
  if (!button) return;
  const done = write(button.dataset.copy ?? button.closest("section").querySelector("pre").textContent);
  say(done ? "Copied" : "Copying is not allowed here");
  button.toggleAttribute("data-done", done);
  setTimeout(() => button.removeAttribute("data-done"), 1200);
});

/** By a selection: the clipboard needs a secure address. */
function write(text) {
  const had = document.activeElement;
  const field = Object.assign(document.createElement("textarea"), { value: text, className: "sr" });
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  had.focus({ preventScroll: true });
  return done;
}
