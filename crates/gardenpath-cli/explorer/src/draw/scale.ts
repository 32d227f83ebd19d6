// Scales: from numbers to places along an axis, and the ticks that explain them.

import { compact, raised } from "../format.ts";

export type Kind = "linear" | "log";

export interface Tick {
  value: number;
  /** Empty for a minor tick. */
  label: string;
}

export interface Scale {
  kind: Kind;
  low: number;
  high: number;
  /** Where a number lies: 0 at the low end, 1 at the high end; NaN if the scale cannot show it. */
  place(value: number): number;
  ticks(room: number): Tick[];
}

/**
 * A scale over all `values`, with a little room around them. Fixed ends replace those of the data.
 * `room` of `ticks` is the number of labels that fit.
 */
export function scale(
  kind: Kind,
  values: Iterable<number>,
  ends: { low?: number | undefined; high?: number | undefined } = {},
): Scale {
  const shown = [...values].filter((value) => Number.isFinite(value) && (kind === "linear" || value > 0));
  let low = shown.reduce((a, b) => Math.min(a, b), Infinity);
  let high = shown.reduce((a, b) => Math.max(a, b), -Infinity);
  if (low > high) [low, high] = kind === "log" ? [1, 10] : [0, 1];
  if (kind === "log") {
    const margin = Math.max(Math.log(high / low) * 0.04, low === high ? 0.5 : 0);
    low = ends.low ?? low * Math.exp(-margin);
    high = ends.high ?? high * Math.exp(margin);
    if (!(high > low)) high = low * 10;
    return logarithmic(low, high);
  }
  const margin = (high - low) * 0.05 || Math.abs(high) * 0.1 || 1;
  low = ends.low ?? low - margin;
  high = ends.high ?? high + margin;
  if (!(high > low)) high = low + 1;
  return linear(low, high);
}

function linear(low: number, high: number): Scale {
  return {
    kind: "linear",
    low,
    high,
    place: (value) => (value - low) / (high - low),
    ticks(room) {
      const step = roundStep((high - low) / Math.max(room, 1));
      const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
      const ticks: Tick[] = [];
      for (let k = Math.ceil(low / step - 1e-6); k * step <= high + step * 1e-6; k++) {
        ticks.push({ value: k * step, label: tickLabel(k * step, decimals) });
      }
      return ticks;
    },
  };
}

function tickLabel(value: number, decimals: number): string {
  return Math.abs(value) >= 1e5 ? compact(value) : value.toFixed(Math.min(decimals, 8)).replace("-", "−");
}

function logarithmic(low: number, high: number): Scale {
  return {
    kind: "log",
    low,
    high,
    place: (value) => (value > 0 ? Math.log(value / low) / Math.log(high / low) : NaN),
    ticks(room) {
      const decades = Math.log10(high / low);
      const every = Math.max(1, Math.ceil(decades / Math.max(room, 1)));
      // With less than two decades, powers of ten alone would say too little.
      const factors = decades < 0.7 ? [1, 1.5, 2, 3, 4, 5, 7] : decades < 2 && room > 3 ? [1, 2, 5] : [1];
      const ticks: Tick[] = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
        for (const factor of [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]) {
          const value = factor * 10 ** power;
          if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
          if (factors.includes(factor) && (factors.length > 1 || power % every === 0)) {
            ticks.push({ value, label: factors.length > 1 ? compact(value) : powerOfTen(power) });
          } else if (decades < 6 && factor !== 1.5) {
            ticks.push({ value, label: "" });
          }
        }
      }
      return ticks;
    },
  };
}

/** The next of 1, 2, 5, 10, … that is not smaller. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const factor = step / power;
  return power * (factor <= 1 + 1e-9 ? 1 : factor <= 2 + 1e-9 ? 2 : factor <= 5 + 1e-9 ? 5 : 10);
}

function powerOfTen(power: number): string {
  if (power === 0) return "1";
  if (power === 1) return "10";
  return `10${raised(power)}`;
}
