// Draws the signature into a field of its form. It sends nothing.
"use strict";
const ink = document.getElementById("ink");
const field = document.getElementById("f.declaration.signature");
const pen = ink.getContext("2d");
pen.lineWidth = 3;
pen.lineCap = "round";
pen.lineJoin = "round";

const stored = new Image();
stored.onload = () => pen.drawImage(stored, 0, 0);
if (field.value) stored.src = `data:image/png;base64,${field.value}`;

const move = (event) => {
  const box = ink.getBoundingClientRect();
  return [((event.clientX - box.left) * ink.width) / box.width, ((event.clientY - box.top) * ink.height) / box.height];
};
ink.addEventListener("pointerdown", (event) => {
  ink.setPointerCapture(event.pointerId);
  pen.beginPath();
  pen.moveTo(...move(event));
});
ink.addEventListener("pointermove", (event) => {
  if (!ink.hasPointerCapture(event.pointerId)) return;
  pen.lineTo(...move(event));
  pen.stroke();
});
ink.addEventListener("pointerup", () => {
  field.value = ink.toDataURL("image/png").split(",")[1];
});
document.getElementById("clear").addEventListener("click", () => {
  pen.clearRect(0, 0, ink.width, ink.height);
  field.value = "";
});
