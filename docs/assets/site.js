// What the theme leaves out for people who use a keyboard or a screen reader.
const mend = () => {
  for (const input of document.querySelectorAll("[data-md-component=palette] input")) {
    input.tabIndex = -1; // hidden, and there is no switch
  }
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) {
    table.tabIndex = 0; // wide tables scroll
  }
  document.querySelectorAll(".md-code__nav").forEach((nav, i) => {
    nav.setAttribute("aria-label", `Code block ${i + 1}`);
  });
};
document.addEventListener("DOMContentLoaded", mend);
addEventListener("load", mend);
