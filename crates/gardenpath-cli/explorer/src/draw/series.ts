// What a plot shows.

import type { Kind } from "./scale.ts";

export interface Point {
  x: number;
  y: number;
  /** The ends of an error bar. */
  low?: number | null;
  high?: number | null;
  /** What hovering says, if not the two numbers. */
  title?: string;
}

export interface Series {
  /** Identifies the series when it is hidden or changes. */
  key: string;
  /** For the legend; empty for none. */
  label: string;
  colour: string;
  points: readonly Point[];
  kind?: "curve" | "bars";
  /** Of a curve: whether points are connected, and marked. Both unless it says no. */
  line?: boolean;
  markers?: boolean;
  /** The shape of markers; the number of the series unless it is given. */
  marker?: number;
  /** As `stroke-dasharray`. */
  dash?: string;
  width?: number;
}

export interface Axis {
  label: string;
  kind?: Kind;
  low?: number | undefined;
  high?: number | undefined;
  /** Names of places instead of numbers. */
  names?: readonly string[];
}

/** A line across the frame: at a height, or at a place of the x axis. */
export interface Guide {
  x?: number;
  y?: number;
  label: string;
  /** Of a horizontal line: where its label stands, at the right unless it says left. */
  side?: "left" | "right";
  colour?: string;
  dash?: string;
}
