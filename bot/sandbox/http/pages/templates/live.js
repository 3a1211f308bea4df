// Keeps the page current: what is open and where the reader stands stays as it is.
async function look() {
  const answer = await fetch(location.href, {headers: {accept: "text/html"}});
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const now = document.getElementById("live"), next = page.getElementById("live");
  for (const folded of now.querySelectorAll("details[id]")) {
    const twin = next.querySelector("#" + CSS.escape(folded.id));
    if (twin) twin.open = folded.open;
  }
  if (now.innerHTML !== next.innerHTML && !String(getSelection())) now.replaceWith(document.adoptNode(next));
}
setInterval(() => document.hidden || look().catch(() => {}), 3000);
