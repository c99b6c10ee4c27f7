// Passkeys, forms that keep their input when the language changes, the copy button, times where the
// reader is and the number in the header. Everything else works without script: what needs this file is hidden in
// the page and shown here.

const post = async (path, body) => {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const content = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(content.error), { told: true, go: content.go });
  return content;
};

// One ceremony: ask for options, let the authenticator answer, hand the answer in.
const ceremony = async (begin, finish, ask, extra) => {
  const { ceremony, options } = await post(begin, {});
  const response = await ask(options.publicKey);
  const { go } = await post(finish, { ceremony, response: response.toJSON(), ...extra() });
  location.assign(go);
};

const signIn = (publicKey, more) =>
  navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey), ...more });
const create = (publicKey) =>
  navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) });

const canPasskeys = () =>
  window.PublicKeyCredential?.parseRequestOptionsFromJSON && window.PublicKeyCredential?.parseCreationOptionsFromJSON;

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!canPasskeys()) continue;
  form.hidden = false;
  const { passkey, begin, finish, next, failed } = form.dataset;
  const problem = form.querySelector("[role=alert]");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    problem.hidden = true;
    try {
      await ceremony(begin, finish, passkey === "create" ? create : signIn, () => ({
        next: next ?? "",
        name: form.querySelector("[name=name]")?.value ?? "",
      }));
    } catch (error) {
      if (error.go) {
        location.assign(error.go);
        return;
      }
      problem.textContent = error.told ? error.message : failed;
      problem.hidden = false;
      button.disabled = false;
    }
  });
}

// tell puts a problem beside its field, or takes it away, as the page itself would.
const tell = (input, text) => {
  const field = input.closest(".field");
  if (!field) return; // a box that the browser checks itself
  const id = `${input.id}-problem`;
  let problem = document.getElementById(id);
  field.classList.toggle("wrong", Boolean(text));
  const others = (input.getAttribute("aria-describedby") ?? "").split(" ").filter((other) => other && other !== id);
  if (!text) {
    problem?.remove();
    input.removeAttribute("aria-invalid");
  } else {
    if (!problem) {
      problem = Object.assign(document.createElement("p"), { id, className: "problem" });
      problem.setAttribute("role", "status");
      field.append(problem);
    }
    problem.textContent = text;
    input.setAttribute("aria-invalid", "true");
    others.push(id);
  }
  if (others.length) input.setAttribute("aria-describedby", others.join(" "));
  else input.removeAttribute("aria-describedby");
};

// What was filled in is checked as soon as the field is left. Fields that nobody has
// come to yet are left in peace.
for (const form of document.querySelectorAll("form[data-check]")) {
  const seen = new Set();
  let newest = 0;
  form.addEventListener("change", async ({ target }) => {
    seen.add(target.name);
    const mine = ++newest; // answers may overtake each other
    try {
      const { problems } = await post(form.dataset.check, Object.fromEntries(new FormData(form)));
      if (mine !== newest) return;
      for (const name of seen) tell(form.elements[name], problems[name]);
    } catch {
      // The form itself will say it.
    }
  });
}

// Consumers must give the consent, companies don't: they name themselves in the same form. The
// click on the button comes before the browser checks the form.
for (const box of document.querySelectorAll("input[data-consumer]")) {
  const { organisation, vat_id: vatID } = box.form.elements;
  const mark = () => { box.required = !organisation?.value.trim() && !vatID?.value.trim(); };
  for (const event of ["input", "change", "click"]) box.form.addEventListener(event, mark);
  mark();
}

// A term applies as soon as it is chosen, so that nobody orders another one than they see.
for (const button of document.querySelectorAll("button[data-terms]")) {
  button.hidden = true;
  for (const select of document.querySelectorAll(".term select")) select.addEventListener("change", () => button.form.requestSubmit(button));
}

// A change of language keeps what was typed: this tab stores it until the next page has it
// again. So does a sign-in, if the session had ended when a form with personal data was sent:
// it is stored under "sent" until the page of the form is back, for the same customer and
// within an hour, and any page that is not on the way there deletes it. Secrets are not stored,
// and a box is ticked again by whoever has read its text.
const typed = () => [...document.querySelectorAll(`main form[method=post] :is(input, select, textarea)[id]`)].filter((input) =>
  !input.matches("[type=hidden], [type=password], [type=checkbox], [type=radio], [type=file], [autocomplete=one-time-code], [name=code], [name=lines]"));
const who = document.querySelector(".account .who")?.textContent;
const keepTyped = (as, inputs) => () => {
  try {
    const values = Object.fromEntries(inputs().map(({ id, value }) => [id, value]));
    sessionStorage.setItem(as, JSON.stringify({ path: location.pathname, who, at: Date.now(), values }));
  } catch {
    // The browser stores nothing.
  }
};
for (const form of document.querySelectorAll("form.language")) {
  form.addEventListener("submit", keepTyped("typed", typed));
  // The browser keeps the part of the address after #, such as a search, over the redirect.
  form.addEventListener("submit", () => { form.action = form.getAttribute("action") + location.hash; });
}
for (const form of document.querySelectorAll("main form[data-check]")) {
  form.addEventListener("submit", keepTyped("sent", () => typed().filter((input) => input.form === form)));
}
try {
  const [switched, sent] = ["typed", "sent"].map((as) => JSON.parse(sessionStorage.getItem(as)));
  sessionStorage.removeItem("typed");
  if (!/^\/portal\/(sign-in|reset)/.test(location.pathname)) sessionStorage.removeItem("sent");
  const own = sent?.who && sent.who === who && Date.now() - sent.at < 3_600_000;
  const back = own && [location.pathname, `${location.pathname}/pay`].includes(sent.path); // the latter shows problems of an order
  const before = switched?.values ?? (back ? sent.values : {});
  for (const input of typed()) {
    const value = before[input.id];
    if (value === undefined || value === input.value) continue;
    input.value = value;
    const closed = input.closest("details");
    if (closed) closed.open = true;
  }
} catch {
  // The browser stores nothing.
}

// The basket changes in other tabs, too, and the Back button may restore a page as it was left.
const count = document.querySelector("[data-count]");
const recount = async () => {
  const before = count.textContent;
  try {
    const answer = await fetch("/warenkorb/count");
    const items = (await answer.json()).count;
    if (!answer.ok || count.textContent !== before) return; // search.js has a newer one
    count.textContent = items;
    count.hidden = !items;
  } catch {
    // The next page has the number.
  }
};
if (count) {
  addEventListener("pageshow", ({ persisted }) => persisted && recount());
  document.addEventListener("visibilitychange", () => document.hidden || recount());
}

for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const said = button.parentElement.querySelector("[role=status]");
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent.trim());
      said.textContent = button.dataset.copied;
    } catch {
      said.textContent = button.dataset.failed;
    }
  });
}

// Times on the page are German time, because no request says where its reader is.
const clock = new Intl.DateTimeFormat(document.documentElement.lang === "de" ? "de-DE" : "en-GB", {
  day: document.documentElement.lang === "de" ? "2-digit" : "numeric",
  month: document.documentElement.lang === "de" ? "2-digit" : "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});
const localize = () => {
  for (const time of document.querySelectorAll("time[data-clock]")) {
    time.removeAttribute("data-clock");
    time.textContent = clock.format(new Date(time.dateTime)).replace("Sept ", "Sep "); // as in dates
  }
};
localize();
new MutationObserver(localize).observe(document.getElementById("main"), {
  childList: true, subtree: true, attributeFilter: ["data-clock"], // progress.js sets it again with the time in Germany
});
