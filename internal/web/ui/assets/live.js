// A list that follows its filter while people type. Without this file the form
// has a button.
for (const form of document.querySelectorAll("form[data-live]")) {
  let underWay;
  let pause;
  const follow = async () => {
    underWay?.abort();
    underWay = new AbortController();
    const address = new URL(form.action);
    for (const [name, value] of new FormData(form)) if (value) address.searchParams.set(name, value);
    try {
      const answer = await fetch(address, { signal: underWay.signal });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.getElementById(form.dataset.live).replaceWith(page.getElementById(form.dataset.live));
      history.replaceState(null, "", address);
    } catch {
      // A newer one has taken over; else the button is still there.
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(follow, 120);
  });
}
