// The posterior of hidden symbols: for each level and token, the most probable symbol above the token.

import type { Language, Reading } from "../api.ts";
import { Figure } from "../draw/figure.tsx";
import { ACCENT, FAINT, INK, short } from "../draw/palette.ts";
import { FONT, SIZE, textWidth } from "../draw/text.ts";
import { percent } from "../format.ts";
import { columns, nameRoom } from "./columns.ts";

const ROW = 28;

export function HiddenFigure({ reading, language }: { reading: Reading; language: Language }) {
  if (reading.hidden.length === 0) return null;
  const height = ROW * (reading.hidden.length + 1) + 12;
  return (
    <Figure
      name="hidden"
      title="Symbols above each token, given the whole sentence"
      height={height}
      caption="The most probable symbol; darker is more probable. Point at one to see the others."
    >
      {(width) => <Hidden room={width} height={height} reading={reading} language={language} />}
    </Figure>
  );
}

function Hidden({ room, height, reading, language }: { room: number; height: number; reading: Reading; language: Language }) {
  const { hidden, tokens } = reading;
  const left = nameRoom(hidden.map((_, level) => `level ${level}`));
  const { width, column } = columns(room, tokens.length, language, left);
  const name = (level: number, symbol: number) => language.names[level]?.[symbol] ?? String(symbol);
  // A2_14 is 14 everywhere if there is no room for it somewhere.
  const long = hidden.some((row, level) =>
    row.some((cell) => cell[0] && textWidth(name(level, cell[0][0]), SIZE - 1) > column - 3),
  );
  const summary = hidden
    .map((row, level) => `level ${level}: ${row.map((cell) => (cell[0] ? name(level, cell[0][0]) : "none")).join(" ")}`)
    .join("; ");
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      font-family={FONT}
      font-size={SIZE - 1}
      role="img"
      aria-label={`Most probable symbols, ${summary}`}
    >
      {hidden.map((row, level) => (
        <g key={level}>
          <text x={left - 8} y={ROW * level + 18} text-anchor="end" fill={FAINT}>
            level {level}
          </text>
          {row.map((cell, k) => {
            const best = cell[0];
            if (best === undefined) return null;
            const label = name(level, best[0]);
            return (
              <g key={k}>
                <title>
                  {cell
                    .map(([symbol, probability]) => `${name(level, symbol)} ${percent(probability)}`)
                    .slice(0, 8)
                    .join("\n")}
                </title>
                <rect
                  x={short(left + column * k + 0.75)}
                  y={ROW * level + 2}
                  width={short(column - 1.5)}
                  height={ROW - 4}
                  rx={3}
                  fill={ACCENT}
                  fill-opacity={short(0.05 + 0.5 * best[1])}
                />
                <text x={short(left + column * (k + 0.5))} y={ROW * level + 18} text-anchor="middle" fill={INK}>
                  {long ? label.replace(/^.*_/, "") : label}
                </text>
              </g>
            );
          })}
        </g>
      ))}
      {tokens.map((token, k) => (
        <text
          key={k}
          x={short(left + column * (k + 0.5))}
          y={ROW * hidden.length + 18}
          text-anchor="middle"
          fill={INK}
          font-weight={600}
        >
          {name(language.depth, token)}
        </text>
      ))}
    </svg>
  );
}
