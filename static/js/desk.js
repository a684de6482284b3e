// The open report is in the URL.
import { all, enter, fail, focused, forgive, on, one, parsed, part, say, show } from "./page.js";

const desk = part("desk");
const ahead = new Map();
const OPEN = ".rep[aria-current] a";
const row = () => one(".rep[aria-current]");
const opened = (url = location) => new URL(url).searchParams.get("item");
const swap = (html, ids) => htmx.swap(desk, html, { swapStyle: "none" }, { selectOOB: ids });
let leases, bulks, held, left, resting, source, heard, last, shown, links;

function settle() {
	const { pane } = one("#desk-tabs [aria-current]").dataset;
	if (desk.dataset.pane !== pane) scrollTo(0, 0);
	desk.dataset.pane = pane;
	mark(opened());
	show(one("#desk-talk .rated"));
	lead();
	recall();
	tell();
	hold();
	progress();
	if (heard !== query()) listen();
}

// The newer of page and stream wins.
function progress() {
	const shown = part("bulks");
	if (!(bulks?.dataset.at > shown.dataset.at)) return;
	const isOver = shown.childElementCount && !bulks.childElementCount;
	swap(bulks.outerHTML, "#bulks");
	if (isOver) renew().then(() => say(done()));
}

function renew() {
	const drafts = focused().matches("#desk-report *, #bulk .field *") ? "" : ",#bulk,#desk-tabs,#desk-report:innerHTML,#dock";
	const selectOOB = `#desk-views,#desk-rows,#desk-status,#desk-count,#desk-total${drafts}`;
	return htmx.ajax("GET", location.href, { source: "#told", swap: "none", selectOOB });
}

function mark(item) {
	const found = part(`r-${item}`);
	if (item !== shown) show(found), shown && (part("desk-report").scrollTop = 0);
	shown = item;
	row()?.removeAttribute("aria-current");
	found?.setAttribute("aria-current", "true");
}

// Below, else above, else the list.
function lead() {
	const below = row()?.nextElementSibling ?? one(row() ? "[data-beside='1']" : ".rep");
	const near = [row()?.previousElementSibling, below].map((each) => each?.querySelector("a"));
	all("[data-near]").forEach((link, at) => (link.hidden = !near[at]) || (link.href = near[at].href));
	links = near.reverse().filter(Boolean);
	for (const { href } of links) fetched(href);
}

// "" asks for a page load.
function fetched(href) {
	if (ahead.has(href)) return ahead.get(href);
	const html = fetch(href, { headers: { "Heddle-Part": "item", "HX-Request": "true" } })
		.then((answer) => (answer.ok ? answer.text() : ""))
		.catch(() => void ahead.delete(href));
	html.then((text) => (html.text = text));
	ahead.set(href, html);
	setTimeout(() => ahead.delete(href), 12e4);
	return html;
}

const drop = (id) => ahead.forEach(({ text = id }, href) => text.includes(id) && ahead.delete(href));
on("htmx:configRequest", ({ target, detail }) => {
	if (target.id !== "triage") return;
	const [to] = links;
	if (to) detail.parameters.next = to.pathname + to.search;
	detail.next = ahead.get(to?.href)?.text;
	if (detail.next) detail.headers["Heddle-Ahead"] = [opened(to), detail.next.includes(shown)];
});

// The last click wins.
on("click", visit, true);

async function visit(event) {
	const href = event.target.closest(".rep a, [data-near]")?.href;
	if (!href || event.ctrlKey || event.metaKey || event.shiftKey) return;
	event.preventDefault();
	event.stopPropagation();
	const item = opened(href);
	if (item === opened()) return;
	const sent = one("form.htmx-request");
	desk.ariaBusy = !!sent || !ahead.get(href)?.text;
	for (const other of all("a.htmx-request")) htmx.trigger(other, "htmx:abort");
	if (sent) await new Promise((done) => on("htmx:afterRequest", done, { once: true }));
	mark(item);
	const html = await fetched(href);
	if (row() !== (part(`r-${item}`) ?? 0)) return;
	desk.ariaBusy = false;
	forgive();
	if (html == null) return settle(), refocus(true), fail();
	if (!html) return location.assign(href);
	history.replaceState({ htmx: true }, "");
	history[opened() ? "replaceState" : "pushState"]({ htmx: true }, "", href);
	swap(html, "#desk-tabs,#desk-talk,#desk-report:innerHTML,#dock,#told");
	settle();
	refocus();
	say(words(OPEN));
}

on("keydown", ({ key }) => /^( |Page)/.test(key) && focused().matches("body, .rep a") && enter(one("#desk-talk:has(.talk)")));

// To an error, the row, or the pane.
function refocus(goes) {
	if (!goes && !focused().matches("body, .rep a, .desk > *")) return;
	const wrong = one("[data-focus], [aria-invalid]:not(a), #bulk[data-on] .wrong + * .btn");
	const link = wrong ?? one(OPEN) ?? one(".rep a");
	enter(link?.offsetParent ? link : part(opened() ? `desk-${desk.dataset.pane}` : "desk-rows"));
}

// Keys behind a sent field are no text.
on("htmx:beforeSend", ({ target }) => {
	left = target.id === "triage" && target === focused().form && focused();
	if (left) enter(one(OPEN));
});

// Refusals are no history.
on("htmx:beforeSwap", ({ detail }) => {
	const html = detail.serverResponse;
	if (!html.includes('id="desk"')) return;
	if (!html.includes('id="desk-talk"')) detail.serverResponse = detail.requestConfig.next + html;
	detail.shouldSwap = true;
	detail.isError = false;
});
on("htmx:beforeHistoryUpdate", ({ detail: { xhr, history } }) => {
	const here = location.pathname + location.search;
	if (xhr.status >= 400) history.path = here;
	if (history.path === here) history.type = "replace";
});
on("htmx:afterRequest", ({ detail }) => {
	const { elt, verb } = detail.requestConfig;
	if (elt.matches("input, #check-runs")) return;
	const isPost = verb === "post";
	const isDone = (detail.xhr.status || 500) < 400;
	if (isPost) elt.id === "triage" ? drop(shown) : ahead.clear();
	if (isDone && elt.id === "bulk") recall(new Set(part("bulk").dataset.left.match(/\S+/g)));
	desk.ariaBusy = false;
	settle();
	refocus(isDone && detail.boosted && !one("[data-typing]:focus"));
	isDone || (left?.isConnected && enter(left));
	say(words("main [role=alert]:not([hidden]), .wrong, .failed p") || `${isPost ? done() : ""} ${words(`${OPEN}, #desk-rows h2`)}`);
});

const words = (selector) => all(selector).map((each) => each.innerText.replace(/(?<![.!?…]”?)$/, ".")).join(" ");
const done = () => words("[data-said]");

// Ticks survive paging only.
const query = () => part("bulk").q.value;

function ticks() {
	const [of, ...ids] = JSON.parse(sessionStorage.ticks ?? "[]");
	return new Set(of === query() ? ids : []);
}

on("click", ({ target, shiftKey }) => {
	if (target.name !== "feedback_ids") return;
	const ids = ticks();
	const rows = all(".rep input").map((box) => box.value);
	const [at, from] = [target.value, shiftKey && last].map((id) => rows.indexOf(id));
	const range = rows.slice(from < 0 ? at : Math.min(at, from), Math.max(at, from) + 1);
	for (const id of range) ids[target.checked ? "add" : "delete"](id);
	last = target.value;
	recall(ids);
});
on("reset", ({ target }) => target.id === "bulk" && setTimeout(recall, 0, new Set()));

function recall(ids = ticks()) {
	const bulk = part("bulk");
	sessionStorage.ticks = JSON.stringify([query(), ...ids]);
	bulk.toggleAttribute("data-on", ids.size);
	last = ids.size && last;
	one("[data-ticked]").textContent = `${ids.size} ticked`;
	bulk.ticked.value = [...ids];
	for (const box of all("[name=all]")) box.checked &&= ids.size;
	let more = ids.size;
	for (const box of all(".rep input")) more -= box.checked = ids.has(box.value);
	bulk.toggleAttribute("data-more", more);
}

function hold() {
	clearTimeout(resting);
	resting = setTimeout(() => {
		const item = part("triage") && opened();
		if (item === held) return;
		leave();
		if ((held = item)) lease(item);
	}, 300);
}

const leave = () => held && lease(held, 1);
let line = Promise.resolve();

// No release may overtake its lease.
function lease(item, leave = "") {
	const body = new FormData(part("bulk"));
	body.set("leave", leave);
	line = line.then(() => fetch(`/feedback/${item}/lease/`, { method: "POST", body, keepalive: true })).catch(() => {});
}

function tell() {
	if (!leases) return;
	for (const each of all(".rep")) {
		const name = leases[each.id.slice(2)];
		if (each.toggleAttribute("data-held", !!name)) each.dataset.held = name;
	}
	note("held", leases[opened()]);
}

function note(id, who) {
	const name = one(`#${id} strong`);
	if (name) (name.textContent = who), (part(id).hidden = !who);
}

const NEWS = {
	leases: (data) => ((leases = JSON.parse(data)), tell()),
	changed(data) {
		const deeds = JSON.parse(data);
		for (const id in deeds) drop(id), part(`r-${id}`)?.setAttribute("data-changed", deeds[id]);
		lead();
		const deed = deeds[opened()];
		if (deed) note("changed", deed), say(words("#changed"));
	},
	bulks: (data) => ((bulks = parsed(data).firstChild), progress()),
	list: (data) => swap(data, "#desk-views,#news,#desk-total,#desk-count"),
	own: () => document.hasFocus() || renew(),
	gone: () => source.close(),
};

function listen() {
	source?.close();
	heard = query();
	source = new EventSource(`/feedback/live/${location.search}`);
	source.onopen = forgive;
	for (const name in NEWS) source.addEventListener(name, ({ data }) => NEWS[name](data));
}

settle();
addEventListener("pagehide", () => (source.close(), leave()));
setInterval(() => held && !document.hidden && lease(held), 6e4);
