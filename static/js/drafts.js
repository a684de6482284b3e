import { active, all, enter, on, one } from "./page.js";

const kept = sessionStorage;
const { viewer } = document.body.dataset;
if (viewer && viewer !== kept.viewer) kept.clear(), kept.viewer = viewer;
const base = ({ form, dataset }) => form[dataset.base] ?? {};
const key = ({ dataset }) => dataset.draft;
const scope = (node) => node.closest("[data-picks]") ?? node;
on("input", ({ target }) => all("[data-draft]", scope(target)).map(keep));

function keep(field) {
	if (field.value === field.defaultValue) delete kept[key(field)];
	else kept[key(field)] = JSON.stringify([field.value, base(field).value, all(":checked", scope(field)).map((each) => each.value)]);
}

const forget = (keys) => keys?.split(",").map((id) => delete kept[id]);
const sent = (form, button) => [...form.elements ?? []].filter(({ dataset }) => dataset.draft && (button?.value ?? "").startsWith(dataset.with ?? ""));

let from, typing, behind, taken = {};
on("htmx:beforeSend", ({ detail: { requestConfig: its } }) => {
	from = active();
	its.sent = sent(its.elt, its.triggeringEvent?.submitter);
});
on("htmx:beforeOnLoad", ({ detail: { xhr, requestConfig: { formData, sent } } }) => {
	const isSent = (field) => formData.getAll(field.name).includes(field.value);
	const at = active();
	typing = !(at === from && isSent(at)) && key(at);
	behind = at.value?.length - at.selectionEnd;
	for (const field of xhr.status < 400 ? sent : []) {
		taken[key(field)] = formData.get(field.name);
		isSent(field) && delete kept[key(field)];
	}
});
on("htmx:afterRequest", () => typing = taken = {});
on("submit", (event) => {
	const form = event.target;
	if (event.defaultPrevented) return;
	if (form.sent) return event.preventDefault();
	form.sent = setTimeout(() => form.sent = 0, 5e3);
	kept.sent = sent(form, event.submitter).map(key);
});
one(".door, [data-why], .wrong, [role=alert]") || forget(kept.sent);
delete kept.sent;

on("click", ({ target }) => forget(target.dataset.forget));

htmx.onLoad((root) => {
	for (const field of all("[data-draft]", root)) {
		const id = key(field);
		const [text = field.value, seen, picked] = JSON.parse(kept[id] ?? "[]");
		const draft = field.value ? text : text.replace(taken[id] ?? "", "");
		const isKept = draft !== field.value && field.value === field.defaultValue;
		if (isKept) {
			base(field).value = seen, field.value = draft, field.dataset.kept = "";
			all("option, input:not([data-set])", scope(field)).map((each) => each.checked = each.selected = picked?.includes(each.value));
			keep(field);
		}
		if (isKept || id === typing) field.closest("details:not(.menu)")?.setAttribute("open", "");
		if (id !== typing) continue;
		enter(field);
		field.selectionStart = field.selectionEnd = field.value.length - behind;
		field.dataset.typing = "";
	}
});
