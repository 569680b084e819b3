// Posts the form at each change, and replaces it by the form of the reply: questions appear and vanish, and the focus stays.
// Without this script the button "Update the page" does the same.
"use strict";

const byId = (id, within = document) => within.querySelector("#" + CSS.escape(id));
const isTyped = (field) => field.matches("input:not([type=radio], [type=checkbox], [type=hidden])");

// One post after the other, and how many are still to be sent.
let queue = Promise.resolve();
let waiting = 0;
// Settled when no button of the mouse is down: an element that is replaced meanwhile gets no click.
let released = Promise.resolve();

addEventListener("pointerdown", () => {
  released = new Promise((resolve) => {
    const release = () => setTimeout(resolve);
    addEventListener("pointerup", release, { once: true });
    addEventListener("pointercancel", release, { once: true });
  });
});

function post(action, focus) {
  waiting += 1;
  document.body.dataset.busy = "";
  queue = queue.then(() => send(action, focus)).catch(report).finally(() => {
    if (waiting === 0) delete document.body.dataset.busy;
  });
}

async function send(action, focus) {
  waiting -= 1;
  // The next post has all fields as well.
  if (action === "update" && waiting > 0) return;
  const sent = new FormData(byId("declaration"));
  sent.set("do", action);
  const reply = await fetch("/", { method: "POST", body: new URLSearchParams(sent) });
  const text = await reply.text();
  if (!reply.ok) throw new Error(text);
  await released;
  replace(byId("declaration", new DOMParser().parseFromString(text, "text/html")), sent, focus);
}

// What the fields of a form have, by name, where that differs from what was posted.
function changes(form, posted) {
  const now = new FormData(form);
  const values = (data, name) => JSON.stringify(data.getAll(name));
  const names = [...new Set([...now.keys(), ...posted.keys()])].filter((name) => name !== "do" && name !== "token");
  return Object.fromEntries(names.filter((name) => values(now, name) !== values(posted, name)).map((name) => [name, now.getAll(name)]));
}

// Puts changes into a form: what was chosen or typed after the post left is newer than its reply.
function apply(form, changed) {
  for (const field of form.elements) {
    const values = field.type !== "hidden" && changed[field.name];
    if (!values) continue;
    if (field.type === "radio" || field.type === "checkbox") field.checked = values.includes(field.value);
    else field.value = values[0] ?? "";
  }
}

function replace(form, sent, focus) {
  const old = byId("declaration");
  const active = document.activeElement;
  const top = active.getBoundingClientRect().top;
  const selection = isTyped(active) && active.selectionStart !== null && [active.selectionStart, active.selectionEnd];
  apply(form, changes(old, sent));
  for (const details of old.querySelectorAll("details[open]")) byId(details.id, form)?.setAttribute("open", "");
  const appeared = speak(old, form);
  old.replaceWith(document.adoptNode(form));
  byId("trouble").hidden = true;
  if (focus) {
    const target = focus === "appeared" ? appeared : byId(focus) ?? byId("blockers");
    target?.focus();
  } else if (active.id && byId(active.id)) {
    const same = byId(active.id);
    same.focus({ preventScroll: true });
    if (selection) same.setSelectionRange(...selection);
    // What is used stays where it is on the screen.
    scrollBy(0, same.getBoundingClientRect().top - top);
  }
}

// Says what came and went, and marks what came. Returns the first field that came.
function speak(old, form) {
  const label = (field) => (field.querySelector("legend, label")?.firstChild.textContent ?? "").trim();
  const lacks = (other) => (field) => !byId(field.id, other);
  const fields = (within) => [...within.querySelectorAll(".field[id]")];
  const appeared = fields(form).filter(lacks(old));
  const vanished = fields(old).filter(lacks(form));
  const notes = [...form.querySelectorAll(".notes")].filter((note) => byId(note.id, old)?.textContent !== note.textContent);
  for (const field of appeared) field.classList.add("appeared");
  byId("spoken").textContent = [
    ...appeared.map((field) => `Now asked: ${label(field)}.`),
    ...vanished.map((field) => `No longer asked: ${label(field)}.`),
    ...notes.map((note) => note.textContent.trim()),
  ].join(" ");
  return appeared[0]?.querySelector("input:not([type=hidden]), select, button");
}

function report(error) {
  byId("trouble").firstElementChild.textContent = `What you did last was not taken over: ${error.message}.`;
  byId("trouble").hidden = false;
}

document.addEventListener("submit", (event) => {
  event.preventDefault();
  post(event.submitter?.value ?? "update", event.submitter?.dataset.focus);
});

// Texts, days and times are posted when they are complete, the others at once.
document.addEventListener("focusout", ({ target }) => {
  if (isTyped(target) && target.value !== target.defaultValue) post("update");
});
document.addEventListener("change", ({ target }) => {
  if (!isTyped(target)) post("update");
});
