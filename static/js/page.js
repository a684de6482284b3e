export const one = (selector, root = document) => root.querySelector(selector);
export const part = (id) => document.getElementById(id);

export const on = (events, work, how) =>
	events.split(" ").forEach((event) => document.addEventListener(event, work, how));

// With matching root.
export const all = (selector, root = document) =>
	[root, ...root.querySelectorAll(selector)].slice(!root.matches?.(selector));

export const active = () => document.activeElement;
export const enter = (node) => node?.focus({ preventScroll: true });
export const show = (node) => node?.scrollIntoView({ block: "nearest" });
export const say = (words) => one("#said")?.replaceChildren(words);

export function adopt(node) {
	htmx.process(node);
	htmx.trigger(node, "htmx:load");
}

const line = part("failed").content.firstElementChild;
const reason = one("p", line);
const unreached = reason.textContent;
export const parsed = (html) => new DOMParser().parseFromString(html, "text/html").body;

export function fail(near, { status, responseText } = {}) {
	const told = all("[data-why]", parsed(responseText));
	reason.replaceChildren(...(told[0] ? told : [status ? `The server answered ${status}.` : unreached]));
	(near?.closest("main") ? near : one("main")).append(line);
	show(line);
	say(line.innerText);
}

export const forgive = () => line.remove();
on("htmx:beforeSend", forgive);
addEventListener("online", forgive);
on("htmx:responseError htmx:sendError", ({ detail }) => fail(detail.target, detail.xhr));

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
	const had = active();
	const field = Object.assign(document.createElement("textarea"), { value: text, className: "sr" });
	document.body.append(field);
	field.select();
	const done = document.execCommand("copy");
	field.remove();
	enter(had);
	return done;
}

document.cookie = `tz=${Intl.DateTimeFormat().resolvedOptions().timeZone}; path=/; max-age=31536000; samesite=lax`;

// Worded as core.rendering.ago.
setInterval(() => {
	for (const time of all("time")) {
		const [, just, shown, past] = /^(just )?(now|\d+ (?:min|h|d))( ago)?$/.exec(time.textContent) ?? [];
		const passed = (Date.now() - Date.parse(time.dateTime)) / ("until" in time.dataset ? -6e4 : 6e4);
		if (!shown || passed >= 43200) continue;
		const [unit, word] = passed < 60 ? [1, "min"] : passed < 1440 ? [60, "h"] : [1440, "d"];
		const words = passed < 1 ? "now" : `${~~(passed / unit)} ${word}`;
		time.textContent = just || past ? `${words} ago`.replace("now ago", "just now") : words;
	}
}, 3e4);
