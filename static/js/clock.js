// The viewer's time zone: days begin at their midnight.
document.cookie = `tz=${Intl.DateTimeFormat().resolvedOptions().timeZone}; path=/; max-age=31536000; samesite=lax`;

// Worded as core.rendering.ago.

const RELATIVE = /^(just )?(now|\d+ (?:min|h|d))( ago)?$/;

setInterval(() => {
  for (const time of document.querySelectorAll("time")) {
    const [, just, shown, past] = RELATIVE.exec(time.textContent) ?? [];
    const passed = (Date.now() - Date.parse(time.dateTime)) / 1e3;
    const words = shown && ago("until" in time.dataset ? -passed : passed);
    if (words) time.textContent = just || past ? `${words} ago`.replace("now ago", "just now") : words;
  }
}, 3e4);

function ago(seconds) {
  if (seconds < 60) return "now";
  const [unit, word] = seconds < 3600 ? [60, "min"] : seconds < 86400 ? [3600, "h"] : [86400, "d"];
  return seconds < 30 * 86400 ? `${Math.floor(seconds / unit)} ${word}` : "";
}
