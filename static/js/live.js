import { active, adopt, all, clear, enter, on, one, parsed, part, say, stream } from "./page.js";

const SECRET = "[name^=csrf]";
const WORK = {
	open: () => (clear(), delete talk.dataset.lost, wait = 1e3),
	error: () => (talk.dataset.lost = "", source.readyState > 1 && again()),
	turns: bring, marks: bring, head: bring, reset: drop, gone,
	aside: () => [...aside.values()].map(put),
};
const talk = one("[data-live]");
let [live, token] = talk.dataset.live.split(/(?<=token=)/), wait = 1e3, source, follows, seen;

connect();
onscroll = follow;
on("visibilitychange", connect);
on("htmx:afterSettle", ({ target, detail }) => {
	if (!target.matches("#write, #asked")) return;
	connect();
	if (active().matches("body") && detail.requestConfig.triggeringEvent.isTrusted && matchMedia("(hover)").matches) enter(part("say"));
});

function connect() {
	source = stream(source, live + token, WORK, hear);
}

function again() {
	setTimeout(async () => {
		const { status } = await fetch("", { redirect: "manual" }).catch(Object);
		status < 500 && status !== 200 ? gone() : connect();
	}, wait);
	wait = Math.min(wait * 2, 3e4);
}

function hear({ type, data, lastEventId }) {
	token = lastEventId || token;
	follow();
	WORK[type](data);
	if (follows) scrollTo(0, 1e9), seen = scrollY;
	else if (type === "turns") talk.dataset.below = "";
}

function follow() {
	const left = talk.getBoundingClientRect().bottom - innerHeight;
	follows = !active().closest(".rate") && (left < (scrollY > seen ? 96 : 2) || follows && scrollY >= seen);
	seen = scrollY;
	follows && delete talk.dataset.below;
}

function bring(html) {
	const body = parsed(html);
	all(SECRET, body).map((secret) => secret.value = one(SECRET).value);
	[...body.children].map(put);
}

const aside = new Map;

function put(fresh) {
	const held = part(fresh.id);
	aside.delete(fresh.id);
	const chosen = getSelection();
	if (held && (!chosen.isCollapsed && chosen.containsNode(held, 1) || all(".htmx-request, :active", held)[0])) aside.set(fresh.id, fresh);
	else (fresh.dataset.index ? place : renew)(fresh, held);
}

on("htmx:afterRequest selectionchange click pointercancel", () => aside.size && setTimeout(hear, 0, { type: "aside" }));

function place(fresh, held) {
	if (held?.matches(".msg")) return replace(held, fresh);
	(turns().find((other) => other.dataset.index > +fresh.dataset.index) ?? part("asked")).before(fresh);
	adopt(fresh);
}

const turns = () => all("[data-index]", talk);

function drop(index) {
	turns().map((each) => +each.dataset.index >= index && (each.remove(), aside.delete(each.id)));
}

function renew(fresh, held) {
	if (!held || told(held) === told(fresh) || tells(held, fresh)) return;
	const said = one("#status", fresh)?.dataset.said;
	said && said !== one("#status").dataset.said && say(said);
	replace(held, fresh);
}

const told = (node) => node.told ??= node.outerHTML;

function tells(held, fresh) {
	const ids = (form) => all("textarea", form).map(({ id }) => id).join();
	return all("textarea", held).some((each) => each.value && !twinOf(each, fresh) && (held.dataset.late = 1)) ||
		one(".wrong, [role=alert]", held) && ids(held) === ids(fresh);
}

function replace(held, fresh) {
	const had = active();
	const at = held.contains(had) && stops(held).indexOf(had);
	keep(held, fresh);
	held.replaceWith(fresh);
	adopt(fresh);
	if (at === false) return;
	fresh.tabIndex = -1;
	enter(had.isConnected ? had : part(had.id) || stops(fresh)[at] || fresh);
}

function keep(held, fresh) {
	fresh.append(...all(":scope > .failed", held));
	for (const fold of all("details[open][id]", held)) {
		const twin = twinOf(fold, fresh);
		if (!twin) continue;
		twin.open = 1;
		if (fold.dataset.outcome === twin.dataset.outcome) one(".call-io", twin)?.replaceWith(one(".call-io", fold));
	}
	for (const typed of all("[id^=form-]:has(*), textarea[id], input[id]", held)) {
		const twin = twinOf(typed, fresh);
		if (twin) typed.placeholder = twin.placeholder, delete typed.dataset.focus, twin.replaceWith(typed);
	}
}

const twinOf = (node, root) => one(`#${CSS.escape(node.id)}`, root);
const stops = (root) => all(":scope :is(a[href], button, summary, input, textarea, [tabindex])", root);

function gone() {
	source?.close();
	all("#asked, #write").map((form) => form.remove());
	part("gone").hidden = 0;
	say(part("gone").textContent);
}

const watch = new IntersectionObserver((news) => {
	news.map(({ target, isIntersecting }) => target.seen = isIntersecting);
	const seen = all(".map a").filter((link) => one(link.href.baseVal)?.seen).map((link) => link.getBBox());
	const last = seen.at(-1);
	last && one(".map path").setAttribute("d", `M12 ${seen[0].y}V${last.y + last.height}`);
}, { rootMargin: "-96px 0px -72px" });

htmx.onLoad(() => {
	watch.disconnect();
	all(".msg, .call, .fault").map((each) => watch.observe(each));
});
