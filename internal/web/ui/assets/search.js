// The search, live, and the filter of the price list. Without this file the same
// forms lead to pages with the same content.
//
// A name is posted, and in the address it is only a fragment, which browsers keep to
// themselves: no log and no referrer has it. Without script, the address has it sealed.
// EventSource could only GET, so the event stream of a POST is read here.

const results = document.getElementById("results");
const problem = document.getElementById("q-problem");
const field = document.getElementById("q");
const say = (text) => {
  document.getElementById("status").textContent = text;
};

// events reads a stream of server-sent events; each is complete when it is handed on.
async function* events(stream) {
  let rest = "";
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const [name, data] = part.split("\n");
      yield { name: name.slice("event: ".length), data: JSON.parse(data.slice("data: ".length)) };
    }
  }
}

// land puts the focus on something that is no control.
const land = (element) => {
  if (!element) return;
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
};

const complain = (text) => {
  problem.textContent = text;
  problem.hidden = !text;
  if (text) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
};

// clear leaves no row of another search.
const before = document.getElementById("before");
const clear = () => {
  results.replaceChildren();
  say("");
  if (before) before.hidden = false;
};

const heard = {
  problem: ({ text }, more) => {
    if (!more) clear();
    complain(text);
  },
  rows: ({ html, more }) => {
    const inside = results.contains(document.activeElement);
    if (more) document.getElementById("hits").insertAdjacentHTML("beforeend", html);
    else results.innerHTML = html;
    // Who pressed a button that goes away stands where reading goes on.
    if (inside) land(more ? document.querySelector("#hits > .waiting") : document.getElementById("results-title"));
    if (before) before.hidden = true;
    say(results.dataset.waiting);
  },
  row: ({ id, html }) => {
    const row = document.getElementById(id);
    if (!row) return;
    const inside = row.contains(document.activeElement);
    row.outerHTML = html;
    if (inside) land(document.getElementById(id));
  },
  end: ({ text, html, priced }) => {
    document.getElementById("summary").textContent = text;
    document.getElementById("more").innerHTML = html;
    const note = document.getElementById("price-note");
    if (note) note.hidden = !priced;
    say(text);
  },
};

let underWay;
async function search(form, more) {
  underWay?.abort(); // only the newest search counts
  const mine = (underWay = new AbortController());
  complain("");
  let ended = false;
  form.set("language", document.documentElement.lang);
  try {
    const answer = await fetch("/search", { method: "POST", body: new URLSearchParams(form), signal: mine.signal });
    for await (const { name, data } of events(answer.body)) {
      heard[name]?.(data, more);
      ended = name === "end" || name === "problem";
    }
  } catch {
    // Told below, unless a newer search has taken over.
  }
  if (!ended && !mine.signal.aborted) complain(results.dataset.failed);
}

// whois shows a name's record below its row.
async function whois(form, row) {
  form.set("part", "1");
  form.set("language", document.documentElement.lang);
  try {
    const answer = await fetch("/whois", { method: "POST", body: new URLSearchParams(form) });
    row.querySelector(".whois")?.remove();
    row.insertAdjacentHTML("beforeend", await answer.text());
  } catch {
    complain(results.dataset.failed);
  }
}

// collect puts a name into the basket; the page stays, because people want several.
async function collect(form, sent) {
  sent.set("part", "1");
  try {
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(sent) });
    const told = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(told.error), { told: true });
    const link = document.createElement("a");
    Object.assign(link, { className: "button second small", href: told.go, textContent: told.label });
    form.replaceWith(link);
    link.focus();
    const count = document.querySelector("[data-count]");
    count.textContent = told.count;
    count.hidden = false;
    say(told.text);
  } catch (error) {
    form.querySelector("button").disabled = false;
    complain(error.told ? error.message : results.dataset.failed);
  }
}

// Names are added one after the other: each request carries the basket of the answer before.
let collecting = Promise.resolve();

// pause lets the arrow keys pass over the options of a filter without a search for each.
let pause;

document.addEventListener("submit", (event) => {
  const form = event.target;
  const sent = new FormData(form, event.submitter);
  if (form.matches("[data-search]")) {
    event.preventDefault();
    clearTimeout(pause);
    const more = form.dataset.search === "more";
    if (!more) {
      if (form.dataset.search !== "new") field.value = sent.get("q");
      const address = new URLSearchParams([...sent].filter(([name, value]) => value && parts.includes(name)));
      if (`#${address}` !== location.hash) history.pushState(null, "", `#${address}`);
    }
    search(sent, more);
  } else if (form.matches("[data-part]")) {
    event.preventDefault();
    whois(sent, form.closest("li"));
  } else if (form.matches("[data-basket]")) {
    event.preventDefault();
    form.querySelector("button").disabled = true;
    collecting = collecting.then(() => collect(form, sent));
  }
});

// A filter applies at once to the results that are shown.
field?.form.addEventListener("change", ({ target }) => {
  if (!target.matches("select")) return;
  clearTimeout(pause);
  pause = setTimeout(() => {
    if (results.firstElementChild && field.value) field.form.requestSubmit();
  }, 200);
});

// parts are the fields that an address has.
const parts = ["q", "kind", "category", "max"];

// follow shows the search of the address, or none.
const follow = () => {
  const wanted = new URLSearchParams(location.hash.slice(1));
  for (const name of ["q", "category", "max"]) {
    const input = field.form.elements[name];
    if (input) input.value = wanted.get(name) ?? "";
  }
  if (wanted.get("q")) {
    search(wanted);
    return;
  }
  underWay?.abort();
  complain("");
  clear();
};
if (field) {
  addEventListener("popstate", follow);
  if (location.hash.startsWith("#q=") && !results.firstElementChild) follow();
}
