// Everything here makes plain pages nicer; without it links and forms do the same work.
import "./keys.js";
import "./live.js";
import "./copy.js";
import "./drafts.js";
import "./rate.js";
import "./desk.js";
import "./map.js";
import "./clock.js";
import "./zone.js";
