import { enter, focused, on, one, say } from "./page.js";

on("click", ({ target }) => {
	const button = target.closest("[data-copy], [data-copy-next]");
	if (!button) return;
	const done = write(button.dataset.copy ?? one("pre, .written", button.closest(":has(pre, .written)")).textContent);
	say(done ? "Copied" : "Not allowed here");
	button.toggleAttribute("data-done", done);
	setTimeout(() => delete button.dataset.done, 1200);
});

// No HTTPS.
function write(text) {
	const had = focused();
	const field = Object.assign(document.createElement("textarea"), { value: text, className: "sr" });
	document.body.append(field);
	field.select();
	const done = document.execCommand("copy");
	field.remove();
	enter(had);
	return done;
}
