// The map shows which part of the thread is in view.

let waiting = false;

function look() {
  waiting = false;
  const svg = document.querySelector(".map svg");
  if (!svg) return;
  const seen = [...document.querySelectorAll(".talk > .msg[id^=m]")].filter(inView);
  const picks = seen.flatMap((article) => marks(svg, article));
  let view = svg.querySelector("[data-k=view]");
  if (!picks.length) return view?.remove();
  if (!view) {
    view = document.createElementNS(svg.namespaceURI, "rect");
    view.dataset.k = "view";
    view.setAttribute("x", "-6");
    view.setAttribute("width", "36");
    svg.prepend(view);
  }
  const top = Math.min(...picks.map((rect) => rect.y.baseVal.value)) - 2;
  const bottom = Math.max(...picks.map((rect) => rect.y.baseVal.value + rect.height.baseVal.value)) + 2;
  view.setAttribute("y", top);
  view.setAttribute("height", bottom - top);
}

function inView(article) {
  const box = article.getBoundingClientRect();
  return box.bottom > 96 && box.top < innerHeight - 72;
}

/** The marks of an article: its own, and those of the calls in it. */
function marks(svg, article) {
  const ids = [article.id, ...[...article.querySelectorAll("[id^=c]")].map((part) => part.id)];
  return ids.flatMap((id) => [...svg.querySelectorAll(`a[href="#${CSS.escape(id)}"] rect`)]);
}

function soon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(look);
}

if (document.querySelector(".map")) {
  addEventListener("scroll", soon, { passive: true });
  addEventListener("resize", soon);
  document.addEventListener("heddle:changed", soon);
  document.addEventListener("htmx:oobAfterSwap", soon);
  soon();
}
