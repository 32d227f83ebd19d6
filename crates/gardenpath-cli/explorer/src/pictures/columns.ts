// Pictures with one column for each token share their widths, so that what stands below each other belongs together.

import type { Language } from "../api.ts";
import { SIZE, textWidth } from "../draw/text.ts";

export interface Columns {
  /** Of the whole picture; wider than the room if the columns would be too narrow otherwise. */
  width: number;
  left: number;
  column: number;
}

/** Columns for so many tokens, and `extra` ones for the start and the end. */
export function columns(room: number, tokens: number, language: Language, left: number, extra = 0, widest = 90): Columns {
  const names = language.names[language.depth] ?? [];
  const narrowest = Math.max(16, ...names.map((name) => textWidth(name, SIZE - 1) + 6));
  const column = Math.min(Math.max((room - left - 8) / (tokens + extra), narrowest), widest);
  return { width: Math.max(room, left + column * (tokens + extra) + 8), left, column };
}

/** The room that names need at the left of a picture. */
export function nameRoom(names: readonly string[]): number {
  return Math.ceil(Math.max(0, ...names.map((name) => textWidth(name, SIZE - 1)))) + 12;
}
