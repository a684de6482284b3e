// Ids and payloads, copied with one click.
import { say } from "./page.js";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], [data-copy-next]");
  if (!button) return;
  const text = button.dataset.copy ?? button.closest("section")?.querySelector("pre")?.textContent ?? "";
  const done = await write(text);
  say(done ? "Copied" : "Copying is not allowed here");
  if (!done) return;
  button.dataset.done = "";
  setTimeout(() => delete button.dataset.done, 1200);
});

/** The clipboard needs a secure address; where there is none, a selection does it. */
async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "sr";
    document.body.append(field);
    const had = document.activeElement;
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    had?.focus?.({ preventScroll: true });
    return done;
  }
}
