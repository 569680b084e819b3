// Posts the form at each change, and replaces it by the form of the reply: questions appear and vanish, and the focus stays.
// Without this script the button "Update the page" does the same.
"use strict";

const byId = (id, within = document) => within.querySelector("#" + CSS.escape(id));
const isTyped = (field) => field.matches("input:not([type=radio], [type=checkbox], [type=hidden])");

// What was entered and did not reach the server yet is kept in this browser under this key, also when the page is loaded again;
// it is removed once a reply shows that it has arrived. It holds fields by their names, and not the token of the page.
const UNSENT = "web_form.unsent";
const RETRY_AFTER = 5_000;
const GIVE_UP_AFTER = 30_000;

// The fields as the server has them.
let known = fields(byId("declaration"));
// One post after the other: the next one, and the button that was pressed and has no reply yet.
let next = null;
let pressed = null;
let isSending = false;
let retry;
// Settled when no button of the mouse is down: an element that is replaced meanwhile gets no click.
let released = Promise.resolve();

addEventListener("pointerdown", () => {
  released = new Promise((resolve) => {
    const release = () => setTimeout(resolve);
    addEventListener("pointerup", release, { once: true });
    addEventListener("pointercancel", release, { once: true });
  });
});

// Posts all fields, with a button or without. While the reply to a button is on its way, no other one is taken: the second click
// of a double click does nothing.
async function post(button) {
  if (button ? pressed : next) return;
  next = button ?? "update";
  if (button) rest((pressed = button));
  if (isSending) return;
  isSending = true;
  document.body.dataset.busy = "";
  clearTimeout(retry);
  try {
    while (next) await send(next);
    byId("trouble").hidden = true;
  } catch (error) {
    report(error);
  }
  isSending = false;
  delete document.body.dataset.busy;
}

async function send(button) {
  next = null;
  const sent = fields(byId("declaration"));
  sent.set("do", button.value ?? button);
  const signal = AbortSignal.timeout(GIVE_UP_AFTER);
  const reply = await fetch("/", { method: "POST", body: new URLSearchParams(sent), signal });
  const text = await reply.text();
  if (!reply.ok) throw Object.assign(new Error(text), { isRefusal: reply.status < 500 });
  await released;
  if (button === pressed) pressed = null;
  const page = new DOMParser().parseFromString(text, "text/html");
  document.title = page.title;
  replace(byId("declaration", page), sent, button.dataset?.focus);
}

// Marks the buttons while the reply to one is on its way.
function rest(button) {
  for (const other of document.querySelectorAll("button")) other.ariaDisabled = button ? "true" : null;
}

// A day such as 30 February has no value in a browser: what is posted in its place is refused with its reason.
function fields(form) {
  const data = new FormData(form);
  for (const field of form.elements) if (field.validity.badInput) data.set(field.name, "not complete");
  return data;
}

// What the fields of a form have, by name, where that differs from what was posted.
function changes(form, posted) {
  const now = fields(form);
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

// Keeps what the server does not have.
function keep() {
  const changed = changes(byId("declaration"), known);
  if (Object.keys(changed).length > 0) localStorage.setItem(UNSENT, JSON.stringify(changed));
  else localStorage.removeItem(UNSENT);
}

function replace(form, sent, focus) {
  const old = byId("declaration");
  const active = document.activeElement;
  const top = active.getBoundingClientRect().top;
  const selection = isTyped(active) && active.selectionStart !== null && [active.selectionStart, active.selectionEnd];
  known = fields(form);
  apply(form, changes(old, sent));
  // What has no value yet cannot be copied: days that are half typed, and a signature that is being drawn.
  for (const field of old.querySelectorAll("input, canvas")) {
    const same = field.id && (field.localName === "canvas" || field.validity.badInput) && byId(field.id, form);
    if (!same) continue;
    for (const name of ["aria-invalid", "aria-describedby"]) if (same.hasAttribute(name)) field.setAttribute(name, same.getAttribute(name));
    same.replaceWith(field);
  }
  for (const details of old.querySelectorAll("details[open]")) byId(details.id, form)?.setAttribute("open", "");
  const appeared = speak(old, form);
  old.replaceWith(document.adoptNode(form));
  rest(pressed);
  keep();
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
  const heading = form.querySelector("[data-said]");
  if (form.className !== old.className) {
    byId("spoken").textContent = heading?.dataset.said ?? "";
    return;
  }
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

// Without a connection the fields are posted again later. A button is not: its post may have arrived.
function report({ isRefusal, message }) {
  const again = pressed && ` Then press “${pressed.textContent.trim()}” again.`;
  const [text, link] = byId("trouble").children;
  text.textContent = isRefusal
    ? `What you did last was not taken over: ${message}.`
    : `No connection. What you entered is kept here and sent when it is back.${again ?? ""}`;
  link.hidden = !isRefusal;
  byId("trouble").hidden = false;
  rest((next = pressed = null));
  keep();
  if (!isRefusal) retry = setTimeout(post, RETRY_AFTER);
}

addEventListener("online", () => {
  if (!byId("trouble").hidden) post();
});

document.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.submitter && event.submitter.value !== "update") post(event.submitter);
  else post();
});

document.addEventListener("input", keep);
// Texts, days and times are posted when they are complete, the others at once.
document.addEventListener("focusout", ({ target }) => {
  if (isTyped(target) && (target.value !== target.defaultValue || target.validity.badInput)) post();
});
document.addEventListener("change", ({ target }) => {
  if (!isTyped(target)) post();
});

// A signature is drawn, and posted as a picture.
let ink = null;
document.addEventListener("pointerdown", ({ target, offsetX, offsetY, pointerId }) => {
  if (target.id !== "ink") return;
  target.setPointerCapture(pointerId);
  ink = target.getContext("2d");
  ink.lineWidth = 3;
  ink.beginPath();
  ink.moveTo((offsetX * target.width) / target.clientWidth, (offsetY * target.height) / target.clientHeight);
});
document.addEventListener("pointermove", ({ target, offsetX, offsetY, buttons }) => {
  if (target.id !== "ink" || !ink || !buttons) return;
  ink.lineTo((offsetX * target.width) / target.clientWidth, (offsetY * target.height) / target.clientHeight);
  ink.stroke();
});
document.addEventListener("click", ({ target }) => {
  if (target.id !== "sign" || !ink) return;
  byId("f.declaration.signature").value = byId("ink").toDataURL().split(",")[1];
  ink = null;
  post();
});

const unsent = JSON.parse(localStorage.getItem(UNSENT) ?? "{}");
apply(byId("declaration"), unsent);
if (Object.keys(unsent).length > 0) post();
