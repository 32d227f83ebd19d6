// The chart: every symbol that derives some tokens of the sentence, as a block over those tokens. True ones are part of a derivation of the whole
// sentence; spurious ones lead nowhere.

import type { ChartLevel, Language, Reading } from "../api.ts";
import { Figure } from "../draw/figure.tsx";
import { ACCENT, categorical, FAINT, INK, LINE, short } from "../draw/palette.ts";
import { FONT, SIZE, textWidth } from "../draw/text.ts";
import { count, counted, percent } from "../format.ts";
import { Select } from "../parts/controls.tsx";
import { update } from "../state.ts";
import type { Span } from "../views/reading.tsx";
import { columns, nameRoom } from "./columns.ts";

const LANE = 17;
/** Lanes of a level where all levels are shown, and where one is. */
const LANES = { all: 8, one: 48 };

interface ChartProps {
  reading: Reading;
  language: Language;
  /** 0 for all levels. */
  level: number;
  onSpan: (span: Span | null) => void;
}

interface Laid {
  level: ChartLevel;
  cells: { cell: ChartLevel["cells"][number]; lane: number }[];
  lanes: number;
  left_out: number;
}

export function ChartFigure({ reading, language, level, onSpan }: ChartProps) {
  const inner = reading.chart.filter((one) => one.level < language.depth);
  const chosen = inner.filter((one) => level === 0 || one.level === level);
  const laid = chosen.map((one) => lay(one, level === 0 ? LANES.all : LANES.one));
  const height = laid.reduce((sum, one) => sum + Math.max(1, one.lanes) * LANE + 12, 0) + 34;
  const [good, bad] = [sum(inner.map((one) => one.true_count)), sum(inner.map((one) => one.spurious_count))];
  const missing = sum(laid.map((one) => one.left_out));
  const options = [
    { value: "0", label: "all" },
    ...inner.filter((one) => one.level > 0).map((one) => ({ value: String(one.level), label: String(one.level) })),
  ];
  return (
    <Figure
      name="chart"
      title="Chart"
      height={height}
      controls={
        <Select
          label="level"
          value={String(level)}
          options={options}
          onChange={(value) => update({ chartLevel: Number(value) })}
        />
      }
      caption={
        <>
          {counted(good, "true cell")} (filled; darker is more probable) and {counted(bad, "spurious cell")} (dashed).
          {missing === 0 ? null : ` ${count(missing)} are not drawn.`}
        </>
      }
    >
      {(width) => <Chart room={width} height={height} laid={laid} reading={reading} language={language} onSpan={onSpan} />}
    </Figure>
  );
}

interface PictureProps extends Omit<ChartProps, "level"> {
  room: number;
  height: number;
  laid: Laid[];
}

function Chart({ room, height, laid, reading, language, onSpan }: PictureProps) {
  const { tokens } = reading;
  const left = nameRoom(laid.map((one) => `level ${one.level.level}`));
  const { width, column } = columns(room, tokens.length, language, left);
  const summary = laid
    .map((one) => `level ${one.level.level}: ${one.level.true_count} true and ${one.level.spurious_count} spurious cells`)
    .join("; ");
  let top = 4;
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      font-family={FONT}
      font-size={SIZE - 1}
      role="img"
      aria-label={`Chart of the sentence, ${summary}.`}
      onPointerLeave={() => onSpan(null)}
    >
      {laid.map((one) => {
        const y = top;
        top += Math.max(1, one.lanes) * LANE + 12;
        return (
          <g key={one.level.level}>
            <text x={left - 8} y={y + 13} text-anchor="end" fill={FAINT}>
              level {one.level.level}
            </text>
            {one.cells.map(({ cell, lane }, k) => (
              <Cell
                key={k}
                x={left + column * cell.start}
                y={y + lane * LANE}
                width={column * cell.span}
                cell={cell}
                name={language.names[one.level.level]?.[cell.symbol] ?? ""}
                onSpan={onSpan}
              />
            ))}
            <path d={`M${left} ${top - 6}H${short(left + column * tokens.length)}`} stroke={LINE} stroke-width={0.8} />
          </g>
        );
      })}
      {tokens.map((token, k) => (
        <text key={k} x={short(left + column * (k + 0.5))} y={top + 14} text-anchor="middle" fill={INK} font-weight={600}>
          {language.names[language.depth]?.[token]}
        </text>
      ))}
    </svg>
  );
}

interface CellProps {
  x: number;
  y: number;
  width: number;
  cell: ChartLevel["cells"][number];
  name: string;
  onSpan: (span: Span | null) => void;
}

function Cell({ x, y, width, cell, name, onSpan }: CellProps) {
  const real = cell.probability > 0;
  const label = textWidth(name, SIZE - 2) <= width - 6 ? name : name.replace(/^.*_/, "");
  return (
    <g onPointerEnter={() => onSpan({ start: cell.start, span: cell.span })}>
      <title>{`${name} over tokens ${cell.start + 1} to ${cell.start + cell.span}: ${real ? percent(cell.probability) : "spurious"}`}</title>
      <rect
        x={short(x + 1)}
        y={y + 1}
        width={short(width - 2)}
        height={LANE - 3}
        rx={4}
        fill={real ? ACCENT : "transparent"}
        fill-opacity={real ? short(0.15 + 0.5 * cell.probability) : 0}
        stroke={real ? ACCENT : categorical(3)}
        stroke-width={real ? 0.8 : 1}
        stroke-dasharray={real ? "" : "3 2"}
      />
      <text x={short(x + width / 2)} y={y + 11.5} text-anchor="middle" font-size={SIZE - 2} fill={real ? INK : FAINT}>
        {label}
      </text>
    </g>
  );
}

/** Puts each cell into the first lane where it fits; what would need more lanes than there are is left out. */
function lay(level: ChartLevel, limit: number): Laid {
  const lanes: { start: number; end: number }[][] = [];
  const cells: Laid["cells"] = [];
  for (const cell of level.cells) {
    const [start, end] = [cell.start, cell.start + cell.span];
    let lane = lanes.findIndex((taken) => taken.every((other) => end <= other.start || other.end <= start));
    if (lane < 0) lane = lanes.push([]) - 1;
    if (lane >= limit) {
      lanes.pop();
      continue;
    }
    lanes[lane]!.push({ start, end });
    cells.push({ cell, lane });
  }
  return { level, cells, lanes: lanes.length, left_out: level.true_count + level.spurious_count - cells.length };
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}
