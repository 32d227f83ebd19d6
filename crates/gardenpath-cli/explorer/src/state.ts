// The state of the page, all of which is in the fragment of the URL: reloading or sharing it shows the same again.

import { useEffect, useState } from "preact/hooks";

export const VIEWS = ["language", "reading", "learning", "results"] as const;
export type View = (typeof VIEWS)[number];

/** Where the grammar comes from: the controls, the command line, or a file that was loaded. */
export const SOURCES = ["controls", "given", "file"] as const;
export type Source = (typeof SOURCES)[number];

export const WORKERS = ["exact", "unlabelled", "paper", "em", "cnn", "inn", "transformer"] as const;
export type Worker = (typeof WORKERS)[number];

export interface State {
  view: View;
  source: Source;
  /** The loaded file, compressed; empty if it is too long for a URL. */
  file: string;

  vocab: number;
  depth: number;
  fraction: number;
  arities: string;
  /** 0 for as many as symbols. */
  classes: number;
  seed: number;
  /** Of the sampled sentences. */
  sampleSeed: number;
  first: number;
  /** The layer and the symbol whose rules are shown. */
  layer: number;
  parent: number;

  /** The sentence that is read: tokens, or the number of a sampled one. */
  tokens: readonly number[];
  sample: number;
  /** How many tokens were read; one more than there are means that the end was read, too. */
  step: number;
  /** 0 for all levels. */
  chartLevel: number;
  ambiguousSeed: number;

  worker: Worker;
  task: "root" | "next";
  samples: number;
  width: number;
  steps: number;
  workSeed: number;

  chapter: string;
  scale: string;
  family: number;
  /** NaN for the one that was measured or predicted. */
  exponent: number;
  hidden: readonly string[];
}

interface Codec<T> {
  initial: T;
  /** Undefined for what is not understood. */
  read(text: string): T | undefined;
  write(value: T): string;
}

const CODECS: { [K in keyof State]: Codec<State[K]> } = {
  view: oneOf(VIEWS, "language"),
  source: oneOf(SOURCES, "controls"),
  file: text(""),
  vocab: whole(8, 1, 255),
  depth: whole(3, 1, 16),
  fraction: real(0.25, 1e-9, 1),
  arities: text("2:0.5,3:0.5"),
  classes: whole(0, 0, 255),
  seed: whole(7, 0, Number.MAX_SAFE_INTEGER),
  sampleSeed: whole(1, 0, Number.MAX_SAFE_INTEGER),
  first: whole(0, 0, 1e12),
  layer: whole(0, 0, 15),
  parent: whole(0, 0, 254),
  tokens: list((part) => wholeNumber(part, 0, 254), "."),
  sample: whole(0, 0, 1e12),
  step: whole(0, 0, 1e4),
  chartLevel: whole(0, 0, 16),
  ambiguousSeed: whole(0, 0, Number.MAX_SAFE_INTEGER),
  worker: oneOf(WORKERS, "exact"),
  task: oneOf(["root", "next"] as const, "root"),
  samples: whole(16384, 1, 1e9),
  width: whole(64, 1, 1e5),
  steps: whole(5000, 1, 1e9),
  workSeed: whole(1, 0, Number.MAX_SAFE_INTEGER),
  chapter: text(""),
  scale: text(""),
  family: whole(0, 0, 1000),
  exponent: real(NaN, -20, 20),
  hidden: list((part) => part, "~"),
};

const KEYS = Object.keys(CODECS) as (keyof State)[];

/** What every URL says, so that it means the same when defaults change. */
const ALWAYS: ReadonlySet<keyof State> = new Set(["view", "vocab", "depth", "fraction", "arities", "seed"]);

/** The state in a fragment; what is missing or not understood has its initial value. */
export function parseState(fragment: string): State {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const entries = KEYS.map((key) => {
    const text = given.get(key);
    return [key, (text === null ? undefined : CODECS[key].read(text)) ?? CODECS[key].initial];
  });
  return Object.fromEntries(entries) as State;
}

/** The fragment of a state, without the values that are initial ones anyway. */
export function printState(state: State): string {
  const parts = KEYS.flatMap((key) => {
    const codec = CODECS[key] as Codec<unknown>;
    const text = codec.write(state[key]);
    if (text === codec.write(codec.initial) && !ALWAYS.has(key)) return [];
    return [`${key}=${encodeURIComponent(text).replaceAll("%2C", ",").replaceAll("%3A", ":")}`];
  });
  return `#${parts.join("&")}`;
}

// One store for the page. The URL follows it at once, but for many changes a second, which browsers refuse.

const PAUSE = 250;

let current = parseState(location.hash);
let written = -Infinity;
let pending: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** Changes the state. A change of the view is a step that "back" undoes. */
export function update(patch: Partial<State>): void {
  const before = current;
  current = { ...current, ...patch };
  if (current.view !== before.view) {
    flush(before);
    history.pushState(null, "", printState(current));
  } else {
    clearTimeout(pending);
    pending = setTimeout(flush, Math.max(0, written + PAUSE - performance.now()), undefined);
  }
  for (const listener of listeners) listener();
}

/** Writes what the URL does not say yet. */
export function flush(state: State | undefined): void {
  clearTimeout(pending);
  written = performance.now();
  history.replaceState(null, "", printState(state ?? current));
}

addEventListener("popstate", reread);
addEventListener("pagehide", () => flush(undefined));

function reread(): void {
  clearTimeout(pending);
  current = parseState(location.hash);
  for (const listener of listeners) listener();
}

/** The state, in a component that is drawn again when it changes. */
export function useAppState(): State {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((times) => times + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return current;
}

function oneOf<T extends string>(values: readonly T[], initial: T): Codec<T> {
  return { initial, read: (text) => values.find((value) => value === text), write: (value) => value };
}

function text(initial: string): Codec<string> {
  return { initial, read: (text) => text, write: (value) => value };
}

function whole(initial: number, low: number, high: number): Codec<number> {
  return { initial, read: (text) => wholeNumber(text, low, high), write: String };
}

function wholeNumber(text: string, low: number, high: number): number | undefined {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  return value >= low && value <= high ? value : undefined;
}

function real(initial: number, low: number, high: number): Codec<number> {
  const read = (text: string) => {
    const value = text === "" ? NaN : Number(text);
    return value >= low && value <= high ? value : undefined;
  };
  return { initial, read, write: (value) => (Number.isNaN(value) ? "" : String(value)) };
}

function list<T>(item: (text: string) => T | undefined, separator: string): Codec<readonly T[]> {
  const read = (text: string) => {
    const items = text === "" ? [] : text.split(separator).map(item);
    return items.some((one) => one === undefined) ? undefined : (items as T[]);
  };
  return { initial: [], read, write: (value) => value.join(separator) };
}
