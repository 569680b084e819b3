// The page holds the document: all fields by their names, and a version that counts the changes. Each change is kept in this browser
// and posted as a whole. A reply is a page that follows from the document that was posted: the script takes its structure and
// sentences, never its values, and only while the document is still that one. Without the script the buttons do the same.
"use strict";

const byId = (id, within = document) => within.querySelector("#" + CSS.escape(id));
const form = byId("declaration");
const { key, view } = form.dataset;
const KEPT = "web_form.";
const RETRY_AFTER = 5_000;
const GIVE_UP_AFTER = 30_000;
const NO_CONNECTION = "No connection. What you entered is kept here and sent when it is back.";
const TOO_LONG = "The declaration is too long for the server: shorten its longest texts.";

let doc; // { version, fields: { name: [value, ..] } }
let complete = 0; // The version of the last complete change: what is typed since is kept, and posted when the field is left.
let pressed = null; // The button whose reply is on its way.
let rendering = new AbortController();
let waiting = 0;
let retry;

function keep(name, values) {
  doc.fields[name] = values;
  doc.version += 1;
  try {
    localStorage.setItem(KEPT + key, JSON.stringify(doc));
    byId("unkept").hidden = true;
  } catch {
    byId("unkept").hidden = false;
  }
}

function kept(name) {
  try {
    return JSON.parse(localStorage.getItem(name));
  } catch {
    return null;
  }
}

// Posts the document, with a button or without. The second click of a double click does nothing.
async function post(button) {
  if (button && pressed) return;
  clearTimeout(retry);
  if (["row", "none", "checked"].includes(button?.name)) keep(button.name, [...(doc.fields[button.name] ?? []), button.value]);
  else if (button) doc.version += 1;
  const sent = (complete = doc.version);
  const body = new URLSearchParams({ version: sent });
  for (const [name, values] of Object.entries(doc.fields)) for (const value of values) body.append(name, value);
  const hash = form.elements.namedItem("hash");
  if (hash) body.set("hash", hash.value);
  rendering.abort();
  const { signal } = (rendering = new AbortController());
  const [path, target] = (button?.getAttribute("formaction") ?? "?").split("#");
  if (button) pressed = button;
  document.body.dataset.busy = waiting += 1;
  let page, fresh, trouble;
  try {
    const limit = AbortSignal.timeout(GIVE_UP_AFTER);
    const reply = await fetch(location.pathname + path, { method: "POST", body, signal: button ? limit : AbortSignal.any([limit, signal]) });
    page = new DOMParser().parseFromString(await reply.text(), "text/html");
    fresh = byId("declaration", page);
    // Another page may have come, as of a network that asks for a login.
    if (fresh?.dataset.key !== key) trouble = reply.status === 413 ? TOO_LONG : NO_CONNECTION;
    else if (fresh.dataset.view === "sent") return location.replace(reply.url);
  } catch {
    trouble = NO_CONNECTION;
  }
  if (button) pressed = null;
  waiting -= 1;
  if (waiting) document.body.dataset.busy = waiting;
  else delete document.body.dataset.busy;
  if (trouble) return button || !signal.aborted ? report(trouble, button) : undefined;
  byId("trouble").hidden = true;
  const isForm = fresh.dataset.view === "form" && form.dataset.view === "form";
  if (isForm ? sent >= complete : sent === doc.version) take(page, fresh, button && target);
  else if (button) again(button);
}

// The document changed while the reply to a button was on its way: what the button did is shown with the document as it is.
async function again(button) {
  await post();
  warn(`You changed the declaration meanwhile. Press “${button.textContent.trim()}” again.`);
}

// What is entered is kept, and posted again later. A button is not: its post may have arrived.
function report(trouble, button) {
  warn(button ? `${trouble} Then press “${button.textContent.trim()}” again.` : trouble);
  if (trouble === NO_CONNECTION) retry = setTimeout(post, RETRY_AFTER);
}

function warn(text) {
  byId("trouble").textContent = text;
  byId("trouble").hidden = false;
}

function take(page, fresh, target) {
  const label = (field) => (field.querySelector("legend, label")?.firstChild.textContent ?? "").trim();
  const texts = (within, selector, text) => new Map([...within.querySelectorAll(selector)].map((it) => [it.id, text(it)]));
  const shown = (within) => [texts(within, ".field[id]", label), texts(within, ".notes[id]", (note) => note.textContent.trim())];
  const [[oldFields, oldNotes], [fields, notes]] = [shown(form), shown(fresh)];
  const isOther = fresh.dataset.view !== form.dataset.view;
  const came = (now, before) => [...now].filter(([id, text]) => id && (before.has(id) ? before.get(id) : null) !== text);
  const appeared = came(fields, oldFields);
  if (isOther && fresh.dataset.view === "review") history.pushState(null, "", "#review");
  document.title = page.title;
  morph(form, fresh);
  fill();
  const gone = [...oldFields].filter(([id]) => !fields.has(id));
  byId("spoken").textContent = isOther ? document.querySelector("h1").textContent : [
    ...appeared.map(([, text]) => `Now asked: ${text}.`),
    ...gone.map(([, text]) => `No longer asked: ${text}.`),
    ...came(notes, oldNotes).map(([, text]) => text),
  ].join(" ");
  if (!isOther) for (const [id] of appeared) byId(id).classList.add("appeared");
  const at = target && (byId(target) ?? byId("blockers"));
  const control = "input:not([type=hidden]), select";
  (at?.matches("tr") ? at.querySelector(control) : at)?.focus();
}

// Makes an element like another one. Controls stay the same elements, with what they hold; so do focus, open details and drawings.
function morph(old, fresh) {
  if (old.nodeType === Node.TEXT_NODE) return old.data === fresh.data || (old.data = fresh.data);
  if (old.localName === "canvas") return;
  const own = old.matches("input, select, option") ? ["value", "checked", "selected"] : ["open"];
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !own.includes(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (!own.includes(name) || old.type === "hidden") if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  let at = old.firstChild;
  const remove = () => {
    const next = at.nextSibling;
    at.remove();
    at = next;
  };
  for (const next of [...fresh.childNodes]) {
    const same = next.id && [...old.children].find((child) => child.id === next.id);
    while (at && (same ? at !== same : at.id && !byId(at.id, fresh))) remove();
    if (at && at.nodeName === next.nodeName && (at.id ?? "") === (next.id ?? "")) {
      morph(at, next);
      at = at.nextSibling;
    } else old.insertBefore(next, at);
  }
  while (at) remove();
}

// Puts the values of the document into the controls.
function fill() {
  for (const control of form.elements) {
    if (!/^[fq]\./.test(control.name)) continue;
    const values = doc.fields[control.name] ?? [];
    if (["radio", "checkbox"].includes(control.type)) control.checked = values.includes(control.value);
    else if (control.value !== (values[0] ?? "")) control.value = values[0] ?? "";
  }
  const [signature] = doc.fields["f.declaration.signature"] ?? [];
  const ink = byId("ink");
  if (!ink || ink.dataset.drawn === signature) return;
  ink.dataset.drawn = signature ?? "";
  const picture = new Image();
  picture.onload = () => pen().drawImage(picture, 0, 0);
  picture.src = signature ? `data:image/png;base64,${signature}` : "";
}

const pen = () => byId("ink").getContext("2d");
const values = (name) => new FormData(form).getAll(name);

function begin() {
  doc = kept(KEPT + key);
  const isNew = !doc;
  doc ??= { version: Number(form.elements.version.value), fields: {} };
  if (isNew) for (const name of new Set(new FormData(form).keys())) if (name !== "version") doc.fields[name] = values(name);
  fill();
  if (!isNew) post();
  form.addEventListener("input", ({ target }) => target.name && keep(target.name, values(target.name)));
  form.addEventListener("change", () => post());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    post(event.submitter?.hasAttribute("formaction") ? event.submitter : undefined);
  });
  addEventListener("online", () => post());
  addEventListener("popstate", () => form.dataset.view === "review" && location.hash !== "#review" && post());
  form.addEventListener("click", ({ target }) => {
    const copy = target.closest(".copy");
    if (copy) copyRow(copy);
    if (target.id === "clear") sign("");
  });
  // A signature is in the document as soon as it is drawn.
  form.addEventListener("pointerdown", ({ target, offsetX, offsetY, pointerId }) => {
    if (target.id !== "ink") return;
    target.setPointerCapture(pointerId);
    pen().lineWidth = 3;
    pen().beginPath();
    pen().moveTo((offsetX * target.width) / target.clientWidth, (offsetY * target.height) / target.clientHeight);
  });
  form.addEventListener("pointermove", ({ target, offsetX, offsetY, buttons }) => {
    if (target.id !== "ink" || !buttons) return;
    pen().lineTo((offsetX * target.width) / target.clientWidth, (offsetY * target.height) / target.clientHeight);
    pen().stroke();
  });
  form.addEventListener("pointerup", ({ target }) => target.id === "ink" && sign(target.toDataURL().split(",")[1]));
}

function sign(picture) {
  if (!picture) pen().clearRect(0, 0, 600, 180);
  byId("ink").dataset.drawn = picture;
  keep("f.declaration.signature", [picture]);
  post();
}

// Adds a row with the answers of another one.
function copyRow({ dataset: { row, next } }) {
  const index = next.slice(next.lastIndexOf(".") + 1);
  const controls = [...byId(`row.q.${next.slice(0, -index.length)}${row}`).querySelectorAll("[name^='q.']")];
  for (const name of new Set(controls.map((control) => control.name))) keep(name.replace(/[^.]*$/, index), values(name));
  post({ name: "row", value: `+${next}`, getAttribute: () => `?#row.q.${next}`, textContent: "Copy" });
}

// One tab has a document. Another one waits until that is closed, and reads what is kept then.
function elsewhere() {
  warn("This declaration is open in another tab. Go on there, or close that tab and go on here.");
  byId("main").inert = true;
  navigator.locks.request(KEPT + key, () => location.reload());
}

// Drafts that the server does not have, and what is over.
function listDrafts() {
  for (const sent of document.querySelectorAll("[data-sent]")) forget(sent.dataset.key);
  if (view !== "start") return;
  for (const name of names()) {
    const draft = kept(name);
    const id = name.slice(KEPT.length);
    if (!draft || document.querySelector(`tr[data-key="${CSS.escape(id)}"]`)) continue;
    const text = ["f.origin.pic", "f.destination.pic", "f.movementDate"].map((field) => draft.fields[field]?.[0] || "–");
    const line = document.createElement("li");
    const link = Object.assign(document.createElement("a"), { href: `/declaration/${id}`, textContent: `From ${text[0]} to ${text[1]}, ${text[2]}` });
    const button = Object.assign(document.createElement("button"), { type: "button", className: "link", textContent: "Remove" });
    button.onclick = () => (forget(id), line.remove());
    line.append(link, " ", button);
    byId("kept").lastElementChild.append(line);
    byId("kept").hidden = false;
    byId("drafts").textContent = Number(byId("drafts").textContent) + 1;
  }
}

function names() {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(KEPT));
  } catch {
    return [];
  }
}

function forget(id) {
  try {
    localStorage.removeItem(KEPT + id);
  } catch {
    // Nothing is kept.
  }
}

listDrafts();
if (view === "form") {
  const hold = (lock) => (lock ? (begin(), new Promise(() => {})) : elsewhere());
  // Where locks are refused, so is what one tab could take from another.
  if (navigator.locks) navigator.locks.request(KEPT + key, { ifAvailable: true }, hold).catch(() => doc ?? begin());
  else begin();
}
