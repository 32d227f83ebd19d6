// The crossover: how ambiguous the class becomes as more tuples are rules. A coarse curve follows the controls at once; finer ones replace it.

import { useEffect, useState } from "preact/hooks";
import type { Entropy, Language } from "../api.ts";
import { Figure } from "../draw/figure.tsx";
import { ACCENT, categorical, FAINT } from "../draw/palette.ts";
import { Plot } from "../draw/plot.tsx";
import type { Guide, Series } from "../draw/series.ts";
import { number } from "../format.ts";
import { ensemble } from "../grammar.ts";
import { Message } from "../parts/message.tsx";
import { useQuery } from "../query.ts";
import type { State } from "../state.ts";

export function Crossover({ state, language, height }: { state: State; language: Language | null; height: number }) {
  const random = state.source === "controls";
  const { fraction: _fraction, seed: _seed, ...grammar } = ensemble(state);
  const key = JSON.stringify(grammar);
  const [refined, setRefined] = useState({ key, effort: 0 });
  const effort = refined.key === key ? refined.effort : 0;
  const answer = useQuery<Entropy>(random ? "/api/entropy" : null, { grammar, effort }, effort === 0 ? 40 : 300);
  useEffect(() => {
    if (!answer.busy && answer.value !== null && effort < 2) setRefined({ key, effort: effort + 1 });
  }, [answer.busy, key, effort]);

  const { value, error } = answer;
  const caption =
    value === null
      ? "\u00a0"
      : `Means of ${value.grammars} grammars and ${value.sentences} sentences of each; bars are standard errors.`;
  return (
    <Figure
      name="crossover"
      title="Class entropy against the fraction of rules"
      height={height}
      caption={random ? caption : "\u00a0"}
      busy={answer.busy && effort === 0}
    >
      {(width) =>
        !random ? (
          <p class="message">Only random grammars have a fraction to vary.</p>
        ) : value === null ? (
          <Message error={error} />
        ) : (
          <CrossoverPlot width={width} height={height} state={state} entropy={value} language={language} />
        )
      }
    </Figure>
  );
}

interface CrossoverPlotProps {
  width: number;
  height: number;
  state: State;
  entropy: Entropy;
  language: Language | null;
}

function CrossoverPlot({ width, height, state, entropy, language }: CrossoverPlotProps) {
  const series: Series[] = [
    {
      key: "mean",
      label: "measured",
      colour: ACCENT,
      points: entropy.points.map(({ fraction, entropy: y, stderr }) => ({
        x: fraction,
        y,
        ...(stderr === null ? {} : { low: y - stderr, high: y + stderr }),
      })),
    },
  ];
  if (entropy.theory !== null) {
    const points = entropy.theory.map((point) => ({ x: point.fraction, y: point.entropy }));
    series.push({ key: "theory", label: "theory, many symbols", colour: categorical(2), markers: false, dash: "6 3", points });
    const paper = entropy.theory.flatMap((point) => (point.paper === null ? [] : [{ x: point.fraction, y: point.paper }]));
    if (paper.length > 0)
      series.push({
        key: "paper",
        label: "as printed in the paper",
        colour: categorical(5),
        markers: false,
        dash: "2 2.5",
        points: paper,
      });
  }
  if (language !== null && language.fraction !== null && language.entropy !== null) {
    const { mean, stderr } = language.entropy;
    const point = { x: state.fraction, y: mean, ...(stderr === null ? {} : { low: mean - stderr, high: mean + stderr }) };
    series.push({ key: "this", label: "this language", colour: categorical(1), line: false, marker: 3, points: [point] });
  }
  const guides: Guide[] = [{ y: entropy.guessing, label: "guessing", side: "left", colour: FAINT }];
  if (entropy.critical_fraction !== null)
    guides.push({ x: entropy.critical_fraction, label: `critical ${number(entropy.critical_fraction)}` });
  return (
    <Plot
      width={width}
      height={height}
      summary={`Mean class entropy of random grammars, from ${number(entropy.points[0]?.entropy)} nats at fraction ${number(entropy.points[0]?.fraction)} to ${number(entropy.points.at(-1)?.entropy)} at ${number(entropy.points.at(-1)?.fraction)}; guessing is ${number(entropy.guessing)}.`}
      x={{ label: "fraction f", low: 0, high: 1 }}
      y={{ label: "H(class | sentence), nats", low: 0 }}
      series={series}
      guides={guides}
    />
  );
}
