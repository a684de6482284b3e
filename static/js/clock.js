// Where the viewer is, so that days on pages begin at their midnight.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone) document.cookie = `tz=${zone}; path=/; max-age=31536000; samesite=lax`;

// Relative times stay true on a page that stays open. The words are those of core.rendering.ago.

const RELATIVE = /^((just )?now|\d+ (min|h|d)( ago)?)$/;

setInterval(() => {
  for (const time of document.querySelectorAll("time[datetime]")) {
    const shown = RELATIVE.exec(time.textContent);
    const passed = (Date.now() - Date.parse(time.dateTime)) / 1000;
    const words = shown && ago("until" in time.dataset ? -passed : passed);
    const inSentence = shown?.[2] || shown?.[4];
    if (words) time.textContent = !inSentence ? words : words === "now" ? "just now" : `${words} ago`;
  }
}, 30000);

function ago(seconds) {
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  return seconds < 30 * 86400 ? `${Math.floor(seconds / 86400)} d` : "";
}
