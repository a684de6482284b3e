// Everything here makes plain pages nicer; links and forms do the same work without. A page loads what it needs.
import "./keys.js";
import "./copy.js";
import "./drafts.js";
import "./clock.js";

const has = (selector) => document.querySelector(selector);

if (has("[data-live]")) import("./live.js");
if (has(".map")) import("./map.js");
if (has("#desk")) import("./desk.js");
