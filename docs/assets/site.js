// What the theme leaves out for people who use a keyboard or a screen reader.
const mend = () => {
  for (const input of document.querySelectorAll("[data-md-component=palette] input")) {
    input.tabIndex = -1; // hidden, and there is no switch
  }
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) {
    table.tabIndex = 0; // wide tables scroll
  }
  for (const equation of document.querySelectorAll("math[display=block]")) {
    if (equation.parentElement.className === "equation") continue;
    const box = document.createElement("div");
    box.className = "equation";
    box.tabIndex = 0; // wide equations scroll, too
    equation.replaceWith(box);
    box.append(equation);
  }
  document.querySelectorAll(".md-code__nav").forEach((nav, i) => {
    nav.setAttribute("aria-label", `Code block ${i + 1}`);
  });
};
document.addEventListener("DOMContentLoaded", mend);
addEventListener("load", mend);
