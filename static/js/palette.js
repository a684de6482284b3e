import { use } from "./keys.js";
import { all, on, one, part } from "./page.js";

const [palette, field] = ["palette", "command"].map(part);
const FOUND = "#places :is(a, button)";
const named = (each) => each.title || each.ariaLabel || (each.labels?.[0] ?? each).textContent;
let wanted;

part("go").onclick = () => {
	if (palette.open) return !!palette.close();
	const keyed = ["#bulk[data-on]", "#desk-report", "main", "header .menu"].flatMap((root) => all(`${root} [data-key]`));
	const shown = keyed.filter((each) => each.offsetParent && (each.closest(".menu") ?? each).checkVisibility());
	part("acts").value = shown.map((each) => `${each.dataset.key} ${named(each)}`).join("\t");
	field.value = "";
	palette.showModal();
	htmx.trigger(field, "input");
	return !1;
};

function take() {
	wanted = field.matches(".htmx-request");
	field.value && !wanted && one(FOUND)?.click();
}
on("htmx:afterRequest", () => wanted && setTimeout(take));

palette.onkeydown = (event) => {
	const { key, target } = event;
	const by = { ArrowDown: 1, ArrowUp: -1 }[key];
	const found = all(FOUND);
	if (by) (found[Math.max(found.indexOf(target), 0) + by] ?? field).focus();
	else if (key === "Enter" && target === field) take();
	else return key[1] || field.focus();
	event.preventDefault();
};
palette.onclick = ({ target }) => {
	const act = target.closest("button")?.dataset.act;
	if (act) palette.close(), use(act);
};
