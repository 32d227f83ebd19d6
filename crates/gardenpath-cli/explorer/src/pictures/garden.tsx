// The garden path: how surprising each token was, and which class was probable after it.

import type { Language, Reading } from "../api.ts";
import { Figure } from "../draw/figure.tsx";
import { ACCENT, categorical, FAINT, INK, LINE, short } from "../draw/palette.ts";
import { FONT, SIZE } from "../draw/text.ts";
import { number, percent } from "../format.ts";
import { update } from "../state.ts";
import { columns, nameRoom } from "./columns.ts";

const SURPRISAL = 84;
const ROWS = 16;
const LEGEND = 26;

interface GardenProps {
  reading: Reading;
  language: Language;
  step: number;
}

export function GardenFigure({ reading, language, step }: GardenProps) {
  const classes = probableClasses(reading);
  const row = classes.length > 10 ? 14 : 18;
  const height = SURPRISAL + LEGEND + row * classes.length + 8;
  return (
    <Figure
      name="reading"
      title="Token by token"
      height={height}
      caption={`Above: surprisal in nats. Below: probability of each class after each token${classes.length < reading.posterior.length ? `, the ${classes.length} most probable classes` : ""}. Click to step.`}
    >
      {(width) => (
        <Garden room={width} height={height} row={row} classes={classes} reading={reading} language={language} step={step} />
      )}
    </Figure>
  );
}

/** The classes that were most probable at some step, in the order of their numbers. */
function probableClasses(reading: Reading): number[] {
  const all = reading.steps.find((step) => step.posterior !== null)?.posterior?.map((_, k) => k) ?? [];
  const largest = all.map((k) => Math.max(...reading.steps.map((step) => step.posterior?.[k] ?? 0)));
  return all
    .sort((a, b) => largest[b]! - largest[a]!)
    .slice(0, ROWS)
    .sort((a, b) => a - b);
}

interface PictureProps extends GardenProps {
  room: number;
  height: number;
  row: number;
  classes: number[];
}

function Garden({ room, height, row, classes, reading, language, step }: PictureProps) {
  const { tokens, surprisal, steps } = reading;
  const names = language.names[0] ?? [];
  const left = Math.max(nameRoom(classes.map((k) => names[k] ?? "")), 34);
  const { width, column } = columns(room, tokens.length, language, left, 2, Infinity);
  const x = (at: number) => short(left + column * at);
  const highest = Math.max(1, ...surprisal.map((value) => value ?? 0));
  const impossible = steps.findIndex((one) => one.posterior === null);
  const top = SURPRISAL + LEGEND;
  const said = (k: number) =>
    k === 0 ? "start" : k > tokens.length ? "end" : (language.names[language.depth]?.[tokens[k - 1]!] ?? "");
  const summary = `Surprisal of ${tokens.length} tokens: ${surprisal.map((value) => number(value, 2)).join(", ")} nats.`;
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      font-family={FONT}
      font-size={SIZE - 1}
      role="img"
      aria-label={summary}
    >
      <rect
        x={x(step) + 1}
        y={2}
        width={short(column - 2)}
        height={SURPRISAL + LEGEND - 4}
        rx={4}
        fill={categorical(1)}
        fill-opacity={0.14}
      />
      <text x={left - 6} y={18} text-anchor="end" fill={FAINT}>
        {number(highest, 2)}
      </text>
      <text x={left - 6} y={SURPRISAL + 1} text-anchor="end" fill={FAINT}>
        0
      </text>
      <path d={`M${left} 14H${width - 8}`} stroke={LINE} stroke-width={0.7} />
      <path d={`M${left} ${SURPRISAL}H${width - 8}`} stroke={FAINT} stroke-width={0.8} />
      {surprisal.map((value, k) => {
        const tall = value === null ? 70 : (70 * value) / highest;
        return (
          <rect
            key={k}
            x={short(x(k + 1) + column * 0.2)}
            y={short(SURPRISAL - tall)}
            width={short(column * 0.6)}
            height={short(tall)}
            fill={value === null ? "none" : k + 1 === step ? categorical(1) : ACCENT}
            stroke={value === null ? categorical(3) : "none"}
            stroke-dasharray="3 2"
          >
            <title>
              {value === null ? `${said(k + 1)} is impossible here` : `${said(k + 1)}: surprisal ${number(value)} nats`}
            </title>
          </rect>
        );
      })}
      {steps.map((_, k) => (
        <text
          key={k}
          x={short(x(k) + column / 2)}
          y={SURPRISAL + 17}
          text-anchor="middle"
          fill={k === 0 || k > tokens.length ? FAINT : INK}
          font-weight={k === step ? 700 : 400}
        >
          {column < 30 && (k === 0 || k > tokens.length) ? "·" : said(k)}
        </text>
      ))}
      {classes.map((symbol, place) => (
        <g key={symbol}>
          <text x={left - 6} y={top + row * place + row / 2 + 4} text-anchor="end" fill={FAINT}>
            {names[symbol]}
          </text>
          {steps.map((one, k) => {
            const probability = one.posterior?.[symbol];
            return probability === undefined ? null : (
              <rect
                key={k}
                x={x(k) + 0.75}
                y={top + row * place + 0.75}
                width={short(column - 1.5)}
                height={row - 1.5}
                rx={2}
                fill={ACCENT}
                fill-opacity={short(0.04 + 0.96 * probability)}
              >
                <title>{`after ${said(k)}: ${names[symbol]} ${percent(probability)}`}</title>
              </rect>
            );
          })}
        </g>
      ))}
      <rect
        x={x(step)}
        y={top - 0.5}
        width={short(column)}
        height={row * classes.length + 1}
        rx={3}
        fill="none"
        stroke={categorical(1)}
        stroke-width={1.6}
      />
      {impossible < 0 ? null : (
        <text x={x(impossible) + 6} y={top + 16} fill={categorical(3)}>
          impossible
        </text>
      )}
      {steps.map((_, k) => (
        <rect
          key={k}
          data-transient=""
          class="column"
          x={x(k)}
          y={0}
          width={short(column)}
          height={SURPRISAL + LEGEND - 4}
          fill="transparent"
          onClick={() => update({ step: k })}
        />
      ))}
    </svg>
  );
}
