// A page that follows what it shows. The stream sends the content as the server would
// render it now, and only what differs is touched: who reads, selects or has the
// focus somewhere is not disturbed. Without this file the page reloads itself.

const part = document.getElementById("progress");
const heading = document.querySelector("main h1");
const said = document.getElementById("said");

// Sections are the same if they have the same name, whatever stands before them.
const nameOf = (node) => node.getAttribute?.("id") ?? node.getAttribute?.("aria-labelledby") ?? "";
const alike = (a, b) => a.nodeName === b.nodeName && nameOf(a) === nameOf(b);
const drop = (node) => {
  const next = node.nextSibling;
  node.remove();
  return next;
};

// become makes one element into another of its kind.
const become = (old, fresh) => {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType === Node.TEXT_NODE) {
    old.data = fresh.data;
    return;
  }
  // What somebody has opened to read stays open.
  if (old.nodeName === "DETAILS") fresh.open = old.open;
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  fill(old, fresh);
};

// fill gives an element the children of another one, and keeps those that it has.
const fill = (old, fresh) => {
  let at = old.firstChild;
  for (const child of [...fresh.childNodes]) {
    let match = at;
    if (nameOf(child)) while (match && !alike(match, child)) match = match.nextSibling;
    if (!match || !alike(match, child)) {
      old.insertBefore(child, at);
      continue;
    }
    while (at !== match) at = drop(at);
    at = match.nextSibling;
    become(match, child);
  }
  while (at) at = drop(at);
};

// states are what is told aloud: whose state, and which.
const states = () => new Map([...part.querySelectorAll("[data-says]")].map((cell) => [cell.dataset.says, cell.textContent.trim()]));

const show = ({ title, html }) => {
  const before = states();
  const focused = part.contains(document.activeElement);
  const height = part.querySelector("[role=status]")?.getBoundingClientRect().height; // with its fraction
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  fill(part, fresh.content);
  // A shorter sentence must not move what is read below it.
  const status = part.querySelector("[role=status]");
  if (height && status) status.style.minHeight = `${height}px`;
  if (heading.textContent !== title) {
    document.title = document.title.replace(heading.textContent, title);
    heading.textContent = title;
  }
  if (focused && !part.contains(document.activeElement)) {
    // What had the focus is gone: reading goes on at the top.
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
  const news = [...states()].filter(([whose, state]) => before.get(whose) !== state).map((pair) => pair.join(": "));
  if (news.length) said.textContent = news.join(". ");
};

let stream;
let over = false;

// A browser has few connections to a host, so a page that nobody sees has none.
const close = () => {
  stream?.close();
  stream = undefined;
};

const open = () => {
  if (stream || over || document.hidden) return;
  stream = new EventSource(part.dataset.events);
  stream.addEventListener("part", ({ data }) => show(JSON.parse(data)));
  stream.addEventListener("end", () => {
    over = true;
    close();
  });
  stream.addEventListener("reload", () => location.reload());
  stream.addEventListener("error", () => {
    // One that was cut comes back by itself; one that was refused does not.
    if (stream?.readyState !== EventSource.CLOSED) return;
    over = true;
    close();
    setTimeout(() => location.reload(), part.dataset.reload * 1000);
  });
};

if (part?.dataset.events) {
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
}
