// Collapsing learning curves: x divided by a power of a parameter, and how well the curves then agree where they cross a level.

import type { CurveFamily } from "./api.ts";

export type Curve = CurveFamily["curves"][number];

/** `x` in units of `by`^exponent. */
export function rescaled(x: number, by: number, exponent: number): number {
  return x / by ** exponent;
}

/** Where the curve first falls to the level, between points along straight lines in ln x; null if it does not. */
export function crossing(curve: Curve, level: number): number | null {
  const { points } = curve;
  for (let k = 1; k < points.length; k++) {
    const [a, b] = [points[k - 1]!, points[k]!];
    if ((a.y - level) * (b.y - level) > 0 || a.y === b.y || a.y < level) continue;
    const share = (a.y - level) / (a.y - b.y);
    return Math.exp(Math.log(a.x) + share * Math.log(b.x / a.x));
  }
  return null;
}

/** By which factor the crossings still differ from their geometric mean, after rescaling; null for fewer than two. */
export function spread(curves: readonly Curve[], level: number, exponent: number): number | null {
  const logs = curves.flatMap((curve) => {
    const at = crossing(curve, level);
    return at === null ? [] : [Math.log(rescaled(at, curve.by, exponent))];
  });
  if (logs.length < 2) return null;
  const mean = logs.reduce((a, b) => a + b, 0) / logs.length;
  return Math.exp(Math.sqrt(logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / logs.length));
}
