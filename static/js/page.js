export const one = (selector, root = document) => root.querySelector(selector);
export const part = (id) => document.getElementById(id);

export const on = (events, work, how) => {
	for (const event of events.split(" ")) document.addEventListener(event, work, how);
};

export function all(selector, root = document) {
	const found = [...root.querySelectorAll(selector)];
	return root.matches?.(selector) ? [root, ...found] : found;
}

export const focused = () => document.activeElement;
export const enter = (element) => element?.focus({ preventScroll: true });
export const say = (words) => one("#said")?.replaceChildren(words);

/** Now and for what htmx adds. */
export function whenShown(work) {
	work(document.body);
	on("htmx:load", ({ target }) => target !== document.body && work(target));
}

export function adopt(element) {
	htmx.process(element);
	htmx.trigger(element, "htmx:load");
}

const line = part("failed").content.firstElementChild;
const reason = one("p", line);
const unreached = reason.textContent;
export const parsed = (html) => new DOMParser().parseFromString(html, "text/html").body;

/** At its form. */
export function fail(near, { status, responseText } = {}) {
	const told = status ? all("[data-why]", parsed(responseText)) : [];
	reason.replaceChildren(...(told[0] ? told : [status ? `The server answered ${status}.` : unreached]));
	(near?.closest("main") ? near : one("main")).append(line);
	line.scrollIntoView({ block: "nearest" });
	say(line.innerText);
}

export const forgive = () => line.remove();
on("htmx:beforeSend", forgive);
addEventListener("online", forgive);
on("htmx:responseError htmx:sendError", ({ detail }) => fail(detail.target, detail.xhr));
