"use strict";
// Sliders: each has a hidden field with the step that it stands for, and says it in words.
const sliding = (slider) => {
  const chosen = Number(slider.value);
  const words = slider.dataset.names.split("|")[chosen];
  document.getElementById(slider.dataset.for).value = slider.dataset.steps.split("|")[chosen];
  slider.nextElementSibling.value = words;
  slider.setAttribute("aria-valuetext", words);
};
for (const kind of ["input", "change"]) {
  document.addEventListener(kind, (event) => {
    if (event.target.dataset.steps !== undefined) sliding(event.target);
  }, true);
}
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
  button.classList.add("copied");
});
// What was unfolded stays so when its part of the page is replaced.
let unfolded = [];
document.addEventListener("htmx:beforeSwap", () => {
  unfolded = [...document.querySelectorAll("details[id][open]")].map((part) => part.id);
});
for (const kind of ["htmx:afterSettle", "htmx:oobAfterSwap"]) {
  document.addEventListener(kind, () => {
    for (const id of unfolded) document.getElementById(id)?.setAttribute("open", "");
  });
}
document.addEventListener("htmx:sendError", () => document.body.classList.add("ended"));
// A calculation that takes longer says each second how far it is.
setInterval(() => {
  if (!document.querySelector("#work.htmx-request")) return;
  const language = document.querySelector("[name='language']").value;
  htmx.ajax("POST", "progress", { target: "#work span", swap: "innerHTML", values: { language } });
}, 1000);
