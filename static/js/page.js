// What the other modules share.

/** Say something to readers who listen. One polite region a page. */
export function say(words) {
  const region = document.getElementById("said");
  if (region) region.textContent = words;
}

/** Run now and whenever htmx has put something new on the page; `root` is what is new. */
export function whenShown(work) {
  work(document.body);
  document.body.addEventListener("htmx:load", (event) => event.detail.elt !== document.body && work(event.detail.elt));
}

/** Elements of a selector under root, root included. */
export function all(selector, root = document) {
  const found = [...root.querySelectorAll(selector)];
  return root instanceof Element && root.matches(selector) ? [root, ...found] : found;
}

/** Let htmx know markup that did not come through it. */
export function adopt(element) {
  window.htmx.process(element);
  element.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true, detail: { elt: element } }));
}
