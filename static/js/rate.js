// The form of a rating comes into view where it was asked for, and gives its place back to the answer.
import { say, whenShown } from "./page.js";

whenShown((root) => {
  const form = root.matches(".rate") ? root : root.matches(".msg-form") && root.querySelector(".rate");
  if (form) return arrive(form);
  if (root.matches(".msg-form")) leave(root);
});

function arrive(form) {
  // htmx tells of new markup a moment after showing it; who is already filling it in is not moved.
  if (form.contains(document.activeElement)) return;
  const field = form.querySelector("[aria-invalid]") ?? form.querySelector(":checked") ?? form.querySelector("input:not([type=hidden])");
  field?.focus({ preventScroll: true });
  form.scrollIntoView({ block: "nearest" });
}

/** What was sent stands where the form was; the reader goes on from there. */
function leave(region) {
  const rating = region.querySelector(".margin");
  if (!rating) return;
  rating.tabIndex = -1;
  rating.focus({ preventScroll: true });
  say(`Sent. ${rating.querySelector("h3")?.textContent ?? ""}`);
}

// Categories that do not fit the verdict are not sent.
document.addEventListener("change", (event) => {
  const form = event.target.name === "sentiment" && event.target.closest(".rate");
  if (!form) return;
  const other = event.target.value === "positive" ? "negative" : "positive";
  for (const box of form.querySelectorAll(`[data-for="${other}"] input`)) box.checked = false;
});
