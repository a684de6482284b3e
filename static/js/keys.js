import { active, all, enter, on, one, say, show } from "./page.js";

const TYPING = "input:not([type=checkbox]), textarea, select";
let went, chord, leapt, deaf;
on("keydown", (event) => event.isComposing || event.defaultPrevented || isUsed(event) && event.preventDefault());

function isUsed(event) {
	const { key, target } = event;
	if (Date.now() - deaf < 1e3) return deaf = Date.now();
	chord = event.ctrlKey || event.metaKey;
	if (chord && /^k|KeyK/i.test(key + event.code)) return press(one("#go"));
	if (one(":modal, :popover-open")) return key === "?" && press(one(":popover-open .btn"));
	if (queue[0] ? ends(event) : inField(event) || inList(event)) return 1;
	if (key === "Escape") closeMenus() || one("#bulk[data-on]")?.reset();
	if (chord || key[1] || event.repeat && !"jk".includes(key) || !queue[0] && (event.altKey || event.getModifierState("AltGraph") || target.closest(TYPING + ", .keyless *"))) return;
	queue.push(event.shiftKey ? key : key.toLowerCase());
	return act() || queue[0];
}

const queue = [];
const ends = ({ key }) => /^(Ent|Es|Ba)/.test(key) && queue.push(chord && key === "Enter" ? "Send" : key);

function type(key) {
	const field = active();
	if (key === "Send") send(field);
	else if (key[5]) inField({ key, target: field }) || document.execCommand("delete");
	else if (key === "Enter" && !field.rows) press(one("button:not([type=button])", field.form)) || field.form.requestSubmit();
	else insert(key === "Enter" ? "\n" : key);
	return 1;
}

const insert = (text) => document.execCommand("insertText", 0, text);

function act() {
	let used;
	while (queue[0] && !one(".htmx-request:not([hx-trigger], #renew)") && (!one("#desk[aria-busy]") || "jknxo".includes(queue[0]))) {
		const key = queue.shift();
		used = active().matches(TYPING) ? type(key) : one(":popover-open, .menu[open]") ? press(key === "Enter" ? active() : one(`.menu[open] ${named(key).replace("=", "~=")}`)) : plain(key);
	}
	return used;
}

on("htmx:load htmx:afterRequest htmx:sendError", () => {
	if (queue[0] && one("[role=alert], .wrong, .failed")) queue.length = 0, deaf = Date.now();
	setTimeout(act);
});

function inField({ key, target, shiftKey }) {
	if (key === "Enter" && (chord ? !target.closest("a, button, summary") : target.matches(".menu input, select[data-submit], [type=radio], [name$=_ids]")) && send(target)) return 1;
	const field = target.closest(TYPING);
	if (!field) return;
	if (key === "Tab" && !shiftKey) {
		const word = field.list ? field.value : /@(\S+)$/.exec(field.value)?.[1];
		const typed = `"${CSS.escape(word)}" i`;
		const more = (field.list ?? field.form?.asked)?.querySelector(`[value^=${typed}]:not([value=${typed}])`);
		return more && (field.select(), insert(field.value.slice(0, -word.length) + more.value));
	}
	if (key === "Backspace" && !field.value) return press(one(".token:has(+ :focus) a")) && !field.blur();
	return key === "Escape" && (press(one("[data-cancel]", field.form ?? field)) && !field.blur() || closeMenus() || (field.blur(), all("#desk-tabs [aria-current], .rep[aria-current] a").map(enter)));
}

function send(target) {
	const sender = target.closest("[data-submit]");
	return sender && press(one(sender.dataset.submit, sender.form ?? sender));
}

on("click", (event) => {
	const opener = one(event.target.closest("[data-cancel]")?.dataset.cancel || "x");
	if (opener) event.preventDefault(), event.target.closest("form").remove(), enter(opener);
	event.ctrlKey || event.metaKey || leap(event.target.closest("[data-jump]")?.dataset.each) && event.preventDefault();
});

on("click focusin", ({ target, type }) => all(".menu[open]").map((menu) => menu.open = menu.contains(target) || type > "f" && target.contains(menu)), 1);
const closeMenus = (menu = one(".menu[open] summary")) => (menu?.focus(), press(menu));

const OWN = {
	g: () => went = Date.now(),
	j: () => move(1), k: () => move(-1),
	o: open, n: free,
	x: tick, X: tick,
	"+": atTurn, "-": atTurn, f: atTurn,
};

function plain(key) {
	const since = Date.now() - went;
	went = 0;
	return since < 1e3 ? use(`g ${key}`) : use(key) || OWN[key]?.(key);
}

const named = (key) => `[data-key="${CSS.escape(key)}"]`;

export function use(key) {
	const found = all(named(key)).find((each) => each.closest("#bulk")?.checkVisibility() ?? 1);
	const menu = found?.closest("summary")?.parentNode;
	if (!menu && !found?.matches(TYPING)) return press(found);
	if (!found.checkVisibility()) return press(one(`#desk-tabs :not([aria-current])[data-pane=${found.closest("#desk-report") ? "report" : "list"}]`)) && queue.unshift(key);
	if (menu) menu.open = 1, begin(menu);
	else found.focus(), show(found), found.setSelectionRange?.(1e6, 1e6);
	return 1;
}

const begin = (menu) => menu && (show(menu.lastElementChild), one("ul [aria-current]", menu) ?? all("input, textarea, button, a", menu).find((each) => each.checkVisibility()))?.focus();
on("toggle", () => begin(one(".menu[open]:has(> summary:focus)")), 1);
const press = (found) => (found?.click(), found);

function open() {
	const fold = [active().closest("details"), ...reached()?.querySelectorAll("details") ?? []].find(inView);
	return press(fold ? one("summary", fold) : active().closest("[data-roving] a"));
}

function atTurn(key) {
	const act = `.msg-end [data-act="${key}"]`;
	const ended = all(`${TURN} ${act}`).findLast(inView);
	const turn = [active(), ended, reached(act)].map((each) => each?.closest(TURN)).find(inView);
	return press(turn && one(act, turn)) || reached() && say("Not on this turn.");
}

function tick(key) {
	const row = active().closest(".rep, tr") ?? one(".rep[aria-current]") ?? (enter(one(".rep a")), one(".rep"));
	return row && one("input", row)?.dispatchEvent(new MouseEvent("click", { bubbles: 1, shiftKey: key === "X" }));
}

function free() {
	const link = one(".rep:not([aria-current], :has(~ [aria-current]), [data-held], [data-owned], [data-resolved]) a");
	link?.focus();
	return press(link ?? one('[data-beside="1"] a')) || !one("#desk") || tell();
}

const tell = (words = "No more below.") => (say(words), one("#told")?.setHTMLUnsafe("<p>" + words));
const ARROWS = { ArrowDown: 1, ArrowUp: -1, Home: -1e6, End: 1e6 };

function inList({ key, target }) {
	const list = ARROWS[key] && target.closest("[data-roving], .menu[open]");
	return list && target.closest("a, button, summary, [name=duplicate_of]") && rove(list, ARROWS[key]);
}

const stops = (list) => all(list.rows ? ".title a" : "a, button, [type=radio]", list);
const isOpen = (link) => link.closest("[aria-current], :checked");

function rove(list, by, opens) {
	const links = list && stops(list);
	if (!links?.[0]) return;
	const at = links.indexOf(active());
	const open = links.findIndex(isOpen);
	const from = at < 0 ? open : opens && open < 0 && !one(".rep :checked") ? at - (by > 0) : at;
	const next = links[from + by] ?? links.at(-(by > 0));
	next.checked = 1;
	next.focus();
	if (list.matches("details")) return 1;
	settle(links, next);
	if (next !== links[from]) opens && next.click();
	else if (!press(one(`[data-beside="${by}"] a`)) && by > 0) tell();
	return 1;
}

const settle = (links, current) => links.map((link) => (link.closest(".rep")?.querySelector("input") ?? link).tabIndex = link.tabIndex = -(link !== current));

htmx.onLoad((root) => {
	all("[data-roving]", root.closest("[data-roving]") ?? root).map(stops).map((links) => settle(links, links.find(isOpen) ?? links[0]));
	all("[data-focus]", root).map((each) => (show(each.form), each.focus(), each.rows ? each.selectionStart = each.textLength : each.select?.()));
});

const TURN = "#talk .msg[data-index]";
const edge = () => parseFloat(getComputedStyle(one("html")).scrollPaddingTop);

function inView(node) {
	const { top, bottom } = node?.getBoundingClientRect() ?? {};
	return bottom > edge() + 8 && top < innerHeight - 72;
}

const reached = (kind = "*") => [active().closest(TURN), ...all(`${TURN}:has(${kind})`)].find(inView);

function move(by) {
	const list = all(TURN);
	if (!list[0]) return rove(one("[data-roving]"), by, one("#desk"));
	const at = reached();
	const next = list[list.indexOf(at) + by * !(by > 0 && at && !at.contains(active()) && below(at))];
	return next && arrive(next);
}

function leap(kind) {
	const found = all(`#talk :is(${kind})`);
	if (!found[0]) return;
	const at = found.indexOf(found.includes(leapt) ? leapt : active().closest(kind));
	leapt = at < 0 && found.find(below) || found[(at + 1) % found.length];
	say(`${found.indexOf(leapt) + 1} of ${found.length}`);
	return arrive(leapt);
}

const below = (node) => node.getBoundingClientRect().top > edge() - 8;

function arrive(node) {
	node.tabIndex = -1;
	node.closest(".run")?.setAttribute("open", "");
	enter(one(":scope > summary", node) ?? node);
	node.scrollIntoView();
	return 1;
}
