// The map shows which part of the thread is in view.
import { all, one, whenShown } from "./page.js";

const watch = new IntersectionObserver(
  (seen) => {
    for (const { target, isIntersecting } of seen) {
      const mark = one(`.map a[href="#${CSS.escape(target.id)}"]`);
      mark?.toggleAttribute("data-seen", isIntersecting);
    }
  },
  { rootMargin: "-96px 0px -72px" },
);

// Looked at afresh with every change: a map that was exchanged knows nothing yet.
whenShown(() => {
  watch.disconnect();
  for (const part of all(".talk > .msg[id^=m], .talk .call[id^=c]")) watch.observe(part);
});
