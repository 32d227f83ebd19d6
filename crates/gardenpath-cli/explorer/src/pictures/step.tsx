// What is known at one step: the next token, the class, and the hidden symbols above the last token.

import type { Language, Reading } from "../api.ts";
import { Figure } from "../draw/figure.tsx";
import { ACCENT, categorical, FAINT, INK, PAPER, short } from "../draw/palette.ts";
import { Plot } from "../draw/plot.tsx";
import type { Series } from "../draw/series.ts";
import { FONT, SIZE, textWidth } from "../draw/text.ts";
import { number, percent } from "../format.ts";
import { nameRoom } from "./columns.ts";

interface StepProps {
  reading: Reading;
  language: Language;
  step: number;
}

const HEIGHT = 230;

export function NextFigure({ reading, language, step }: StepProps) {
  const next = reading.steps[step]?.next ?? null;
  const names = [...(language.names[language.depth] ?? []), "end"];
  const came = step < reading.tokens.length ? reading.tokens[step]! : names.length - 1;
  const surprisal = reading.surprisal[step];
  const caption =
    next === null
      ? "\u00a0"
      : `Came: ${names[came]}, probability ${percent(next[came])}, surprisal ${surprisal === null ? "infinite" : `${number(surprisal)} nats`}.`;
  return (
    <Figure name="next-token" title="Next token" height={HEIGHT} caption={<span aria-live="polite">{caption}</span>}>
      {(width) =>
        next === null ? (
          <Nothing text={step > reading.tokens.length ? "The sentence has ended." : "No sentence begins like this."} />
        ) : (
          <Distribution width={width} names={names} values={next} marked={came} label="came" what="token" />
        )
      }
    </Figure>
  );
}

export function ClassFigure({ reading, language, step }: StepProps) {
  const posterior = reading.steps[step]?.posterior ?? null;
  const names = language.names[0] ?? [];
  const truth = reading.truth?.root ?? null;
  const entropy = reading.steps[step]?.entropy;
  return (
    <Figure
      name="class"
      title="Class, so far"
      height={HEIGHT}
      caption={
        <span>
          {posterior === null ? "\u00a0" : `Entropy ${number(entropy)} nats; guessing ${number(Math.log(names.length))}.`}
        </span>
      }
    >
      {(width) =>
        posterior === null ? (
          <Nothing text="No sentence begins like this." />
        ) : (
          <Distribution
            width={width}
            names={names}
            values={posterior}
            marked={truth}
            label="written with"
            what="class"
            high={1}
          />
        )
      }
    </Figure>
  );
}

interface DistributionProps {
  width: number;
  names: readonly string[];
  values: readonly number[];
  marked: number | null;
  label: string;
  what: string;
  high?: number;
}

function Distribution({ width, names, values, marked, label, what, high }: DistributionProps) {
  const point = (k: number) => ({ x: k, y: values[k] ?? 0, title: `${names[k]}: ${percent(values[k])}` });
  const rest = values.map((_, k) => k).filter((k) => k !== marked);
  const series: Series[] = [{ key: "rest", label: "", colour: ACCENT, kind: "bars", points: rest.map(point) }];
  if (marked !== null) series.push({ key: "marked", label, colour: categorical(1), kind: "bars", points: [point(marked)] });
  const best = values.indexOf(Math.max(...values));
  return (
    <Plot
      width={width}
      height={HEIGHT}
      summary={`Probabilities of ${values.length} ${what}s; the most probable is ${names[best]} with ${percent(values[best])}.`}
      x={{ label: what, names }}
      y={{ label: "probability", high }}
      series={series}
    />
  );
}

export function StepHiddenFigure({ reading, language, step }: StepProps) {
  const hidden = reading.steps[step]?.hidden ?? null;
  const why =
    step === 0
      ? "Nothing was read yet."
      : step > reading.tokens.length
        ? "See the whole sentence below."
        : "No sentence begins like this.";
  return (
    <Figure
      name="hidden-so-far"
      title="Symbols above the last token"
      height={HEIGHT}
      caption="Given what was read so far; darker is more probable."
    >
      {(width) => (hidden === null ? <Nothing text={why} /> : <Levels width={width} hidden={hidden} language={language} />)}
    </Figure>
  );
}

/** One row for each level, one square for each symbol. */
function Levels({ width, hidden, language }: { width: number; hidden: number[][]; language: Language }) {
  const left = nameRoom(hidden.map((_, level) => `level ${level}`));
  const row = Math.min(72, (HEIGHT - 24) / hidden.length);
  const summary = hidden.map((values, level) => {
    const best = values.indexOf(Math.max(...values));
    return `level ${level}: ${language.names[level]?.[best]} ${percent(values[best])}`;
  });
  return (
    <svg
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      font-family={FONT}
      font-size={SIZE - 1}
      role="img"
      aria-label={`Most probable symbols. ${summary.join("; ")}`}
    >
      {hidden.map((values, level) => {
        const side = (width - left - 6) / values.length;
        const y = 10 + row * level;
        const best = values.indexOf(Math.max(...values));
        const at = left + side * (best + 0.5);
        const text = `${language.names[level]?.[best]} ${percent(values[best])}`;
        const half = textWidth(text, SIZE - 1) / 2;
        return (
          <g key={level}>
            <text x={left - 8} y={short(y + Math.min(row - 20, 32) / 2 + 4)} text-anchor="end" fill={FAINT}>
              level {level}
            </text>
            {values.map((probability, symbol) => (
              <rect
                key={symbol}
                x={short(left + side * symbol + 0.5)}
                y={y}
                width={short(Math.max(side - 1, 0.5))}
                height={short(Math.min(row - 20, 32))}
                rx={2}
                fill={ACCENT}
                fill-opacity={short(0.05 + 0.95 * probability)}
              >
                <title>{`${language.names[level]?.[symbol]}: ${percent(probability)}`}</title>
              </rect>
            ))}
            <text
              x={short(Math.min(Math.max(at, left + half), width - half))}
              y={short(y + Math.min(row - 20, 32) + 14)}
              text-anchor="middle"
              fill={INK}
              stroke={PAPER}
              stroke-width={3}
              paint-order="stroke"
            >
              {text}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

function Nothing({ text }: { text: string }) {
  return <p class="message">{text}</p>;
}
