// Names of columns as the paper writes them.

import { raised } from "./format.ts";

const LETTERS: Record<string, string> = {
  samples: "P",
  vocab: "v",
  depth: "L",
  fraction: "f",
  binary_rules: "m₂",
  ternary_rules: "m₃",
};

/** An expression or a list of values with letters instead of names: "vocab * binary_rules^2" is "v·m₂²". */
export function notation(text: string): string {
  return text
    .replace(/[a-z][a-z_0-9]*/g, (name) => LETTERS[name] ?? name.replaceAll("_", " "))
    .replaceAll(" * ", "·")
    .replaceAll("^2", "²")
    .replaceAll("^3", "³");
}

/** A power of an expression: "v^1.5", "(v·m₃)^1.5". */
export function power(expression: string, exponent: string): string {
  const base = notation(expression);
  return `${base.length > 2 ? `(${base})` : base}^${exponent}`;
}

/** A sentence with raised powers and lowered indices: "v^4 m_2" is "v⁴ m₂". */
export function pretty(text: string): string {
  return text
    .replace(/(?<=[A-Za-z)])_(\d)/g, (_, digit: string) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]!)
    .replace(/(?<=[A-Za-z0-9)₀-₉])\^(\d+)(?![.\d])/g, (_, power: string) => raised(Number(power)));
}
