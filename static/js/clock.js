// Days begin at the viewer's midnight.
document.cookie = `tz=${Intl.DateTimeFormat().resolvedOptions().timeZone}; path=/; max-age=31536000; samesite=lax`;

// Worded as core.rendering.ago.
setInterval(() => {
	for (const time of document.querySelectorAll("time")) {
		const [, just, shown, past] = /^(just )?(now|\d+ (?:min|h|d))( ago)?$/.exec(time.textContent) ?? [];
		const passed = (Date.now() - Date.parse(time.dateTime)) / 6e4;
		const words = shown && ago("until" in time.dataset ? -passed : passed);
		if (words) time.textContent = just || past ? `${words} ago`.replace("now ago", "just now") : words;
	}
}, 3e4);

function ago(minutes) {
	if (minutes < 1) return "now";
	const [unit, word] = minutes < 60 ? [1, "min"] : minutes < 1440 ? [60, "h"] : [1440, "d"];
	return minutes < 43200 && `${Math.floor(minutes / unit)} ${word}`;
}
