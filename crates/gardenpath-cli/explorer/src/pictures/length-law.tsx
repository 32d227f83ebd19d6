// How probable sentences of each length are.

import type { Language } from "../api.ts";
import { ACCENT } from "../draw/palette.ts";
import { Plot } from "../draw/plot.tsx";
import { number, percent } from "../format.ts";

export function LengthLaw({ width, height, language }: { width: number; height: number; language: Language }) {
  const { lengths, mean_length: mean } = language;
  const summary = `Probabilities of lengths from ${lengths[0]?.length} to ${lengths.at(-1)?.length} tokens, mean ${number(mean)}.`;
  const points = lengths.map(({ length, probability }) => ({
    x: length,
    y: probability,
    title: `${length} tokens: ${percent(probability)}`,
  }));
  return (
    <Plot
      width={width}
      height={height}
      summary={summary}
      x={{ label: "tokens" }}
      y={{ label: "probability" }}
      series={[{ key: "law", label: "", colour: ACCENT, kind: "bars", points }]}
      guides={[{ x: mean, label: `mean ${number(mean)}` }]}
    />
  );
}
