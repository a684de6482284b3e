import { all, one } from "./page.js";

const watch = new IntersectionObserver(show, { rootMargin: "-96px 0px -72px" });

function show(news) {
	for (const each of news) each.target.seen = each.isIntersecting;
	const seen = all(".map a").filter((mark) => one(mark.href.baseVal)?.seen).map((mark) => mark.getBBox());
	const last = seen.at(-1);
	if (last) one(".map path").setAttribute("d", `M12 ${seen[0].y}V${last.y + last.height}`);
}

htmx.onLoad(() => {
	watch.disconnect();
	for (const part of all(".msg, .call, .fault")) watch.observe(part);
});
