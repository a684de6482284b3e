// Where the viewer is, so that days begin at their midnight.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone) document.cookie = `tz=${zone}; path=/; max-age=31536000; samesite=lax`;

// Relative times stay true on an open page. The words are those of core.rendering.ago.

const RELATIVE = /^((just )?now|\d+ (min|h|d)( ago)?)$/;

setInterval(() => {
  for (const time of document.querySelectorAll("time")) {
    const shown = RELATIVE.exec(time.textContent);
    const passed = (Date.now() - Date.parse(time.dateTime)) / 1000;
    const words = shown && ago("until" in time.dataset ? -passed : passed);
    const inSentence = shown?.[2] || shown?.[4];
    if (words) time.textContent = !inSentence ? words : words === "now" ? "just now" : `${words} ago`;
  }
}, 30000);

function ago(seconds) {
  if (seconds < 60) return "now";
  const [unit, word] = seconds < 3600 ? [60, "min"] : seconds < 86400 ? [3600, "h"] : [86400, "d"];
  return seconds < 30 * 86400 ? `${Math.floor(seconds / unit)} ${word}` : "";
}
