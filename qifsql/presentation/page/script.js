// Charts are drawn already; where scripts run, one that comes into view is drawn again, to hover.
(() => {
  const wake = (figure) => {
    const still = figure.querySelector(".drawing svg");
    const place = document.createElement("div");
    const specification = JSON.parse(figure.querySelector("script").textContent);
    const options = { mode: "vega", renderer: "svg", actions: false, ast: true, logLevel: 1, tooltip: { disableDefaultStyle: true } };
    vegaEmbed(place, specification, options)
      .then(() => { still.replaceWith(place); figure.dataset.chart = "awake"; })
      .catch(() => { figure.dataset.chart = "still"; });
  };
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) { seen.unobserve(entry.target); wake(entry.target); }
    }
  }, { rootMargin: "200px" });
  document.querySelectorAll("figure[data-chart]").forEach((figure) => seen.observe(figure));
})();
