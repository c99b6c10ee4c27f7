// Passkeys and the copy button. Everything else works without script: what needs
// this file is hidden in the page and shown here.

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
