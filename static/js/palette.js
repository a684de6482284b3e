// Ctrl+K: what is possible here; the server finds places.
import { perform } from "./keys.js";
import { all, one, part } from "./page.js";

const [palette, field] = ["palette", "command"].map(part);

function item(target) {
	const made = part("act").content.firstElementChild.cloneNode(true);
	const named = (target.labels?.[0] ?? target).cloneNode(true);
	one("kbd", named)?.remove();
	one("span", made).append(target.ariaLabel || target.title || named.textContent);
	one("kbd", made).append(target.dataset.key.replace(/[A-Z]/, "⇧$&"));
	made.onclick = () => (palette.hidePopover(), perform(target));
	return made;
}

function list() {
	const words = field.value.toLowerCase().split(" ");
	const fits = (each) => words.every((word) => each.textContent.toLowerCase().includes(word));
	part("acts").replaceChildren(...all("main [data-key]").filter((each) => each.checkVisibility()).map(item).filter(fits));
}

palette.oninput = list;
palette.onbeforetoggle = () => (field.form.reset(), list());
