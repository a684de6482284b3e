// Where the viewer is, so that days on pages begin at their midnight.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone) document.cookie = `tz=${zone}; path=/; max-age=31536000; samesite=lax`;
