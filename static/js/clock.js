// Relative times stay true on a page that stays open. The words are those of core.rendering.ago.

const RELATIVE = /^(now|just now|\d+ (?:min|h|d))( ago)?$/;

setInterval(() => {
  if (document.hidden) return;
  for (const time of document.querySelectorAll("time[datetime]:not([data-until])")) {
    const found = RELATIVE.exec(time.textContent);
    if (found) show(time, Boolean(found[2]) || found[1] === "just now");
  }
}, 30000);

function show(time, inSentence) {
  const words = ago((Date.now() - Date.parse(time.dateTime)) / 1000);
  if (!words) return;
  const text = !inSentence ? words : words === "now" ? "just now" : `${words} ago`;
  if (text !== time.textContent) time.textContent = text;
}

function ago(seconds) {
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  return seconds < 30 * 86400 ? `${Math.floor(seconds / 86400)} d` : "";
}
