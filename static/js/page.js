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
	const told = status ? all("[data-why]", parsed(responseText)) : [];
	reason.replaceChildren(...(told[0] ? told : [status ? `The server answered ${status}.` : unreached]));
	(near?.closest("main") ? near : one("main")).append(line);
	show(line);
	say(line.innerText);
}

export const forgive = () => line.remove();
on("htmx:beforeSend", forgive);
addEventListener("online", forgive);
on("htmx:responseError htmx:sendError", ({ detail }) => fail(detail.target, detail.xhr));
