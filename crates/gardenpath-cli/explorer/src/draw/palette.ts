// The colours of the report's figures, and lighter ones of the same hues for dark pages. `light-dark()` chooses with the
// colour scheme of the page, so that no picture is drawn again when the theme changes.

const CATEGORICAL: readonly (readonly [string, string])[] = [
  ["#094688", "#6fb1f2"],
  ["#f0852d", "#f29a4f"],
  ["#0e8167", "#3fbf9f"],
  ["#b90042", "#ff7a9c"],
  ["#7abaff", "#b9dcff"],
  ["#c668ad", "#e39bd0"],
  ["#462e00", "#cdb27a"],
  ["#1a1a2e", "#d8dbe6"],
];

const ORDERED = ["#1a1150", "#4b1d7a", "#7f2482", "#b5367a", "#de5a5f", "#f58e51"];
const ORDERED_DARK = ["#8d86ff", "#b07df0", "#d67fdc", "#f08bb4", "#f7a58a", "#fbd08a"];

export const INK = "var(--ink)";
export const FAINT = "var(--faint)";
export const LINE = "var(--line)";
export const PAPER = "var(--paper)";
export const ACCENT = categorical(0);

/** One of eight colours as different as possible, for series without an order. */
export function categorical(number: number): string {
  const [light, dark] = CATEGORICAL[number % CATEGORICAL.length]!;
  return `light-dark(${light}, ${dark})`;
}

/** One of `count` colours in even steps of lightness, for series that are ordered by a parameter. */
export function ordered(number: number, count: number): string {
  const place = number / Math.max(count - 1, 1);
  return `light-dark(${along(ORDERED, place)}, ${along(ORDERED_DARK, place)})`;
}

/** A colour on the way along the stops, from the first at 0 to the last at 1. */
function along(stops: readonly string[], place: number): string {
  const at = Math.min(Math.max(place, 0), 1) * (stops.length - 1);
  const below = Math.min(Math.floor(at), stops.length - 2);
  const from = parts(stops[below]!);
  const to = parts(stops[below + 1]!);
  const mixed = from.map((part, k) => Math.round(part + (to[k]! - part) * (at - below)));
  return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function parts(colour: string): number[] {
  return [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
}

const DASHES = ["", "6 3", "2 2.5", "6 2.5 2 2.5"];

/** How the line with this number is broken; empty for a solid one. */
export function dash(number: number): string {
  return DASHES[Math.floor(number / CATEGORICAL.length) % DASHES.length]!;
}

/** The marker with this number as a path around the origin; all look equally large. */
export function marker(number: number, radius: number): string {
  const ring = (corners: number, scale: number, start: number): string => {
    const spots = Array.from({ length: corners }, (_, k) => {
      const angle = start + (2 * Math.PI * k) / corners;
      return `${short(radius * scale * Math.cos(angle))} ${short(radius * scale * Math.sin(angle))}`;
    });
    return `M${spots.join("L")}Z`;
  };
  switch (number % 5) {
    case 0:
      return ring(24, 1, 0);
    case 1:
      return ring(4, 1.25, Math.PI / 4);
    case 2:
      return ring(3, 1.4, -Math.PI / 2);
    case 3:
      return ring(4, 1.3, 0);
    default:
      return ring(3, 1.4, Math.PI / 2);
  }
}

/** A length with two decimals at most. */
export function short(length: number): number {
  return Math.round(length * 100) / 100;
}
