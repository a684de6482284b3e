export const one = (css, root = document) => root.querySelector(css);
export const part = (id) => document.getElementById(id);
export const on = (events, work, how) => events.split(" ").map((event) => document.addEventListener(event, work, how));
export const all = (css, root = document) => [root, ...root.querySelectorAll(css)].slice(!root.matches?.(css));
export const active = () => document.activeElement;
export const enter = (node) => node?.focus({ preventScroll: 1 });
export const show = (node) => node?.scrollIntoView({ block: "nearest" });
export const say = (words) => one("#said")?.replaceChildren(words);

export function adopt(node) {
	htmx.process(node);
	htmx.trigger(node, "htmx:load");
}

const [line] = part("failed").content.children;
const reason = one("p", line);
const away = reason.textContent;
export const parsed = (html) => Document.parseHTMLUnsafe(html).body;

function fail(near, { status, responseText } = {}) {
	const told = all("[data-why]", parsed(responseText));
	reason.replaceChildren(...told, told[0] ? "" : status ? `The server answered ${status}.` : away);
	(near?.closest("main *") ?? one("main")).append(line);
	show(line);
	say(line.innerText);
}

export const clear = () => line.remove();
on("htmx:beforeSend", ononline = clear);
on("htmx:responseError htmx:sendError", ({ detail }) => fail(detail.target, detail.xhr));

export function stream(old, url, work, hear = ({ type, data }) => work[type](data)) {
	old?.close();
	if (document.hidden) return;
	const source = new EventSource(url);
	for (const name in work) source.addEventListener(name, hear);
	return source;
}

on("click", ({ target }) => {
	const button = target.closest("[data-copy]");
	if (!button) return;
	const text = button.dataset.copy || one("pre, .written", button.closest(":has(pre, .written)")).textContent;
	on("beforecopy copy", (copy) => (copy.clipboardData?.setData("text", text), copy.preventDefault()), { once: 1 });
	say(button.dataset.done = document.execCommand("copy") ? "Copied" : "Not copied");
});

document.cookie = `tz=${Intl.DateTimeFormat().resolvedOptions().timeZone};path=/;max-age=31536000;samesite=lax`;

setInterval(() => all("time").map((time) => {
	const [shown, just, past] = /^(just )?(?:now|\d+ [mhd]\w*)( ago)?$/.exec(time.textContent) ?? [];
	const age = (Date.now() - new Date(time.dateTime)) / 6e4;
	const words = age < 60 ? `${~~age} min` : age < 1440 ? `${~~(age / 60)} h` : `${~~(age / 1440)} d`;
	if (shown && age >= 1 && age < 43200) time.textContent = words + (just || past ? " ago" : "");
}), 3e4);
