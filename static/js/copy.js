// Ids and payloads, copied with one click.
import { say } from "./page.js";

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-copy], [data-copy-next]");
  if (!button) return;
  const done = await write(button.dataset.copy ?? button.closest("section").querySelector("pre").textContent);
  say(done ? "Copied" : "Copying is not allowed here");
  button.toggleAttribute("data-done", done);
  setTimeout(() => button.removeAttribute("data-done"), 1200);
});

/** The clipboard needs a secure address; where there is none, a selection does it. */
async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const had = document.activeElement;
    const field = Object.assign(document.createElement("textarea"), { value: text, className: "sr" });
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    had.focus({ preventScroll: true });
    return done;
  }
}
