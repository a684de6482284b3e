// Links and forms work without any of this.
import "./keys.js";
import "./copy.js";
import "./drafts.js";
import "./clock.js";
import { one } from "./page.js";

if (one("[data-live]")) import("./live.js");
if (one(".map")) import("./map.js");
if (one("#desk")) import("./desk.js");
