// Saving files and pictures.

/** Lets the browser save a text as a file. */
export function saveText(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Saves a picture as SVG that looks the same everywhere: in light colours on white, without what only the mouse shows. */
export function savePicture(name: string, picture: SVGSVGElement): void {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  for (const transient of copy.querySelectorAll("[data-transient]")) transient.remove();
  const resolve = resolver();
  for (const element of [copy, ...copy.querySelectorAll("*")]) {
    for (const name of ["fill", "stroke"]) {
      const colour = element.getAttribute(name);
      if (colour !== null && colour.includes("(")) element.setAttribute(name, resolve(colour));
    }
    for (const name of ["class", "tabindex", "role", "aria-checked"]) element.removeAttribute(name);
  }
  const background = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  background.setAttribute("width", "100%");
  background.setAttribute("height", "100%");
  background.setAttribute("fill", "#ffffff");
  copy.insertBefore(background, copy.firstChild);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  saveText(`${name}.svg`, "image/svg+xml", `${new XMLSerializer().serializeToString(copy)}\n`);
}

/** Colours with variables of the style sheet as plain ones, those of the light theme. */
function resolver(): (colour: string) => string {
  const probe = document.createElement("span");
  probe.style.colorScheme = "light";
  document.body.append(probe);
  const known = new Map<string, string>();
  queueMicrotask(() => probe.remove());
  return (colour) => {
    let plain = known.get(colour);
    if (plain === undefined) {
      probe.style.color = colour;
      plain = getComputedStyle(probe).color;
      known.set(colour, plain);
    }
    return plain;
  };
}
