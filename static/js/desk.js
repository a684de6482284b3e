import { active, adopt, all, clear, enter, on, one, parsed, part, say, show, stream } from "./page.js";

const desk = part("desk");
const ahead = new Map, made = new Map;
const OPEN = ".rep[aria-current] a";
const opened = (url = location) => new URL(url).searchParams.get("item");
let asked = 0, every, leases, bulks, held, left, resting, source, heard, last, shown, seen, links, was, next, here, due, news;

function settle() {
	const { pane, title } = one("#desk-tabs [aria-current]").dataset;
	document.title = title;
	desk.ariaBusy = null;
	desk.dataset.pane !== pane && scrollTo(0, 0);
	desk.dataset.pane = pane;
	mark(opened());
	show(one("#desk-talk .rated"));
	lead();
	part("desk-report").inert = part("dock").inert = was;
	recall();
	tell();
	hold();
	progress();
	was || heard === (heard = query() + location.search.match(/com\w+=\w+/g)) || listen();
}

function progress() {
	const shown = part("bulks");
	if (!(bulks?.dataset.at > shown.dataset.at) || one(".htmx-request", shown)) return;
	swap(shown, bulks);
	shown.children[0] && !bulks.children[0] && renew().then(() => say(words("[data-said]")));
}

const IN_USE = ":active, .menu[open], select:user-valid, :focus:not(.rep *)";
const later = () => due ||= setTimeout(() => (due = 0, one(IN_USE, desk) ? later() : renew()), 2e3);
const renew = () => htmx.ajax("GET", location.href, { source: "#renew" });

function mark(item) {
	const found = part(`r-${item}`);
	if (item !== shown) seen = part("desk-report").scrollTop = 0;
	seen || show(seen = found);
	shown = item;
	all(".rep").map((each) => each.ariaCurrent = each === found || null);
}

function lead() {
	const near = [".rep:has(+ [aria-current])", "[aria-current] ~ .rep:not([data-unmatched]), ol:not(:has(> [aria-current])) .rep, [data-beside='1']"].map((each) => one(`:is(${each}) a`));
	all("[data-near]").map((link, at) => (link.hidden = !near[at]) || (link.href = near[at]));
	links = near.reverse().filter((each, at) => each && !(at && each.closest("[data-resolved]")));
	was || near.filter(Boolean).map(fetched);
}

function fetched({ href }) {
	if (ahead.has(href)) return ahead.get(href);
	const html = fetch(href, { headers: { "Heddle-Part": "item", "HX-Request": "true" } })
		.then((page) => page.ok ? page.text() : "")
		.catch(() => void ahead.delete(href));
	html.then((text) => {
		const body = desk.parentNode.cloneNode();
		body.append(...parsed(html.text = text).children);
		one("[hx-trigger^=every]", body) || htmx.process(body);
		made.set(text, body);
	});
	ahead.set(href, html);
	setTimeout(() => ahead.delete(href) && made.clear(), 12e4);
	return html;
}

const drop = (id) => ahead.forEach(({ text = id }, href) => text.includes(id) && ahead.delete(href));
on("htmx:configRequest", ({ target, detail: { parameters, headers } }) => {
	if (target.id !== "triage") return;
	const [to] = links;
	if (to) parameters.next = to.href;
	next = /^(res|dup|sn|note_)/.test(parameters.verb) && ahead.get(to?.href)?.text;
	if (!next) return;
	headers["Heddle-Ahead"] = next.includes(shown);
	all("option", desk).map((each) => each.toggleAttribute("selected", each.selected));
	here = [desk.innerHTML, location.href];
});

on("click", async (event) => {
	const link = event.target.closest(".rep a, [data-near]");
	if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
	event.preventDefault();
	event.stopPropagation();
	const item = opened(link);
	if (item === shown) return;
	desk.ariaBusy = true;
	asked++;
	if (one("form.htmx-request")) await new Promise((done) => on("htmx:afterRequest", done, { once: 1 }));
	mark(item);
	const html = await fetched(link);
	if (shown !== item) return;
	clear();
	if (html == null) return settle(), refocus(1), htmx.trigger(desk, "htmx:sendError");
	if (!html) return location.assign(link);
	turn(html, link);
	active().matches(OPEN) || say(words(OPEN));
}, 1);

function turn(html, href) {
	history[opened() ? "replaceState" : "pushState"]({ htmx: 1 }, "", href);
	put(html);
	settle();
	refocus();
}

function put(html, fresh) {
	asked++;
	news = fresh;
	[...(made.get(html) || parsed(html)).children].map((each) => swap(part(each.id), each));
	made.delete(html);
}

function swap(old, fresh) {
	if (!old) return;
	if (news && one(IN_USE, old)) return later();
	old.after(fresh);
	all(".rep, .more, .pager", fresh).map((each) =>
		part(each.id)?.outerHTML.replace(/ (tabi|open)[^>]+/g, "") === each.outerHTML && each.replaceWith(part(each.id)));
	old.remove();
	adopt(fresh);
}

on("keydown", ({ key }) => /^( |Page)/.test(key) && active().matches("body, .rep a") && enter(one("#desk-talk:has(.talk)")));

function refocus(goes) {
	if (!goes && !active().matches("body, .rep a, .desk > *")) return;
	const wrong = one(":is([data-focus], [aria-invalid]):not(a)");
	wrong?.closest(".menu")?.setAttribute("open", "");
	const link = wrong ?? one(OPEN) ?? one(".rep [data-focus]") ?? one(".rep a");
	enter(link?.offsetParent ? link : part(shown ? `desk-${desk.dataset.pane}` : "desk-rows"));
	goes && show(link);
	/^te/.test(wrong?.type) && wrong.setSelectionRange(1e6, 1e6);
}

on("htmx:beforeSend", ({ target }) => {
	if (target.id === "renew") return target.at = desk.ariaBusy || one(".htmx-request", desk) ? 0 : asked;
	asked++;
	if (left = target === active().form && active()) left.blur(), enter(one(OPEN));
});

on("htmx:xhr:loadstart", ({ target }) => {
	if (!next) return;
	was = here;
	turn(next, links[0]);
	next = 0;
	target.replaceChildren();
	part("sent")?.remove();
	target.id = "sent";
	desk.after(target);
});

on("htmx:beforeSwap", ({ target: { at }, detail }) => {
	if (!detail.serverResponse.includes('id="desk"')) return;
	Object.assign(detail, { shouldSwap: !(at < asked), isError: 0 });
	news = at >= 0;
	at ?? (asked++, was = 0);
});

on("htmx:oobBeforeSwap", ({ target, detail }) => {
	const { firstChild } = detail.fragment;
	if (firstChild.id) swap(target, firstChild), detail.shouldSwap = 0;
});

on("htmx:afterRequest", ({ detail: { requestConfig: { elt, verb }, xhr, boosted } }) => {
	if (elt.matches("[hx-trigger]") || elt.at < asked && later()) return;
	const done = (xhr.status || 500) < 400;
	if (was && elt.id === "sent") turn(...was, was = 0), enter(part(left.id));
	verb === "post" && drop(/fb_\w+|$/.exec(elt.action)[0]);
	if (done && elt.id === "bulk") every = 0, recall(new Set(part("bulk").dataset.left.match(/\S+/g)));
	settle();
	refocus(done && boosted && !one("[data-typing]:focus"));
	done || left?.isConnected && enter(left);
	say(words("main [role=alert], .wrong, .failed p") || `${verb === "post" ? words("[data-said]") : ""} ${words(`${OPEN}, #desk-rows :is(h2, .unread)`) || words("#desk-total")}`);
});

const words = (css) => all(css).map((each) => each.innerText.replace(/(?<![.!?…]\W*)$/, ".")).join(" ");
const query = () => part("bulk").q.value;

function ticks() {
	const [of, ...ids] = JSON.parse(sessionStorage.ticks ?? "[]");
	return new Set(of === query() ? ids : []);
}

on("click", ({ target, shiftKey }) => {
	if (target.name !== "feedback_ids") return;
	const ids = ticks();
	const rows = all(".rep input").map((box) => box.value);
	const ends = [target.value, shiftKey && last].map((id) => rows.indexOf(id)).filter((at) => ~at);
	rows.slice(Math.min(...ends), Math.max(...ends) + 1).map((id) => ids[target.checked ? "add" : "delete"](id));
	last = target.value;
	recall(ids);
	say(words("#ticked"));
});
on("change htmx:afterSwap", ({ target }) => target.closest("#bulk p label") && (every = target.checked ?? every, say(words(every ? "#bulk p label" : "#ticked"))));
on("reset", (event) => event.target.id === "bulk" && (event.preventDefault(), recall(new Set), refocus(1)));

function recall(ids = ticks()) {
	const bulk = part("bulk");
	let { size } = ids;
	sessionStorage.ticks = JSON.stringify([query(), ...ids]);
	bulk.toggleAttribute("data-on", size);
	last = size && last;
	part("ticked").textContent = `${size} ticked`;
	bulk.ticked.value = [...ids];
	if (bulk.all) bulk.all.checked = every &&= size;
	all(".rep input").map((box) => size -= box.checked = ids.has(box.value));
	bulk.toggleAttribute("data-more", size);
}

function hold() {
	clearTimeout(resting);
	resting = setTimeout(() => {
		const item = part("triage") && shown;
		if (item !== held) held && lease(held, 1), (held = item) && lease(item);
	}, 300);
}

const lease = (item, leave = "") => navigator.sendBeacon(`/feedback/${item}/lease/?leave=${leave}`, new FormData(part("bulk")));

function tell() {
	if (!leases) return;
	all(".rep").map(({ id, dataset }) => (dataset.held = leases[id.slice(2)]) || delete dataset.held);
	note("held", leases[shown]);
}

const note = (id, who) => all(`#${id} strong`).map((name) => (name.textContent = who, part(id).hidden = !who));

const NEWS = {
	open: clear,
	error: () => source.readyState > 1 && setTimeout(listen, 3e3),
	leases: (data) => (leases = JSON.parse(data), tell()),
	changed(data) {
		const deeds = JSON.parse(data);
		for (const id in deeds) drop(id), Object.assign(part(`r-${id}`)?.dataset ?? {}, deeds[id]);
		lead();
		deeds[shown]?.changed && (note("changed", deeds[shown].changed), say(words("[role=alert], #changed")));
	},
	bulks: (data) => (bulks = parsed(data).firstChild, progress()),
	list: (html) => put(html, 1),
	say,
	own: (at) => one("main .htmx-request") || at > part("bulk").dataset.at && renew(),
	gone: () => source.close(),
};

const listen = () => source = stream(source, part("live").dataset.live + location.search, NEWS);

recall();
settle();
history.replaceState({ htmx: 1 }, "");
onpagehide = () => held && lease(held, 1);
on("visibilitychange", () => document.hidden ? listen() : (held = 0, renew().finally(listen)));
setInterval(() => held && !document.hidden && lease(held), 6e4);
