// ---- figures as SVG and PNG, tables as CSV ----
const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "font-size", "font-family", "font-weight", "text-anchor"];
function save(name, content, type) {
  const link = document.createElement("a");
  link.href = content instanceof Blob ? URL.createObjectURL(content) : URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
// A drawing that needs no style sheet: what the page's gives each node is written onto it.
function drawing(svg) {
  const copy = svg.cloneNode(true), [, , width, height] = svg.getAttribute("viewBox").split(" "), from = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((node, k) => {
    const style = getComputedStyle(from[k]);
    for (const name of DRAWN) node.setAttribute(name, style.getPropertyValue(name));
    node.removeAttribute("class");
  });
  copy.querySelector(".tip")?.remove();
  for (const [name, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width, height })) copy.setAttribute(name, value);
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ width, height, fill: getComputedStyle(document.body).backgroundColor })) paper.setAttribute(name, value);
  copy.prepend(paper);
  return { text: new XMLSerializer().serializeToString(copy), width: +width, height: +height };
}
function savePng(svg, name) {
  const { text, width, height } = drawing(svg), image = new Image(), canvas = document.createElement("canvas");
  canvas.width = 2 * width; canvas.height = 2 * height;
  image.onload = () => { canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height); canvas.toBlob((blob) => save(name, blob)); };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}
function csv(table) {
  const quote = (words) => /[",\n]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words;
  return [...table.rows].map((row) => [...row.cells].map((c) => quote([...c.childNodes].map((n) => n.textContent).filter(Boolean).join(" ").trim())).join(",")).join("\n") + "\n";
}
function button(words, label, act) {
  const node = document.createElement("button");
  node.type = "button"; node.textContent = words; node.setAttribute("aria-label", label);
  node.addEventListener("click", act);
  return node;
}
function offerDownloads() {
  for (const figure of document.querySelectorAll("figure")) {
    const svg = figure.querySelector("svg"), row = document.createElement("p"), what = svg.getAttribute("aria-label");
    row.className = "save";
    row.append(button("SVG", `${what}: download as SVG`, () => save(svg.id + ".svg", drawing(svg).text, "image/svg+xml")),
      button("PNG", `${what}: download as PNG`, () => savePng(svg, svg.id + ".png")));
    figure.append(row);
  }
  for (const table of document.querySelectorAll(".scroll > table")) {
    const row = document.createElement("p"), what = table.parentNode.getAttribute("aria-label");
    row.className = "save";
    row.append(button("CSV", `${what}: download as CSV`, () => save((table.id || "models") + ".csv", csv(table), "text/csv")));
    table.parentNode.after(row);
  }
}
