// The legend of a plot: rows of marks and names above the frame. Where series can be hidden, its entries are check boxes.

import { FAINT, INK, marker } from "./palette.ts";
import type { Series } from "./series.ts";
import { SIZE, textWidth } from "./text.ts";

const MARK = 22;
const GAP = 16;
const ROW = 18;

export interface Entry {
  series: Series;
  number: number;
  x: number;
  y: number;
  width: number;
}

/** Places entries from left to right, and in as many rows as they need. */
export function arrange(series: readonly Series[], left: number, right: number): { entries: Entry[]; height: number } {
  const entries: Entry[] = [];
  let [x, y] = [left, 0];
  series.forEach((one, number) => {
    if (one.label === "") return;
    const width = MARK + textWidth(one.label) + 4;
    if (x > left && x + width > right) [x, y] = [left, y + ROW];
    entries.push({ series: one, number, x, y, width });
    x += width + GAP;
  });
  return { entries, height: entries.length === 0 ? 0 : y + ROW + 6 };
}

interface LegendProps {
  entries: Entry[];
  hidden: ReadonlySet<string>;
  onToggle?: ((key: string) => void) | undefined;
}

export function Legend({ entries, hidden, onToggle }: LegendProps) {
  return (
    <g>
      {entries.map((entry) => (
        <LegendEntry key={entry.series.key} entry={entry} shown={!hidden.has(entry.series.key)} onToggle={onToggle} />
      ))}
    </g>
  );
}

function LegendEntry({ entry, shown, onToggle }: { entry: Entry; shown: boolean; onToggle: LegendProps["onToggle"] }) {
  const { series, number, x, y, width } = entry;
  const middle = y + 8;
  const toggle = onToggle && {
    role: "checkbox" as const,
    tabindex: 0,
    "aria-checked": shown,
    "aria-label": `Show ${series.label}`,
    class: "toggle",
    onClick: () => onToggle(series.key),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== " " && event.key !== "Enter") return;
      event.preventDefault();
      onToggle(series.key);
    },
  };
  return (
    <g transform={`translate(${x} 0)`} opacity={shown ? 1 : 0.4} {...toggle}>
      <rect data-transient="" x={-3} y={y - 1} width={width + 6} height={ROW} rx={4} fill="transparent" />
      {series.kind === "bars" ? (
        <rect x={2} y={middle - 5} width={12} height={10} fill={series.colour} />
      ) : (
        <>
          {series.line === false ? null : (
            <path d={`M0 ${middle}H18`} stroke={series.colour} stroke-width={1.8} stroke-dasharray={series.dash ?? ""} />
          )}
          {series.markers === false ? null : (
            <path d={marker(series.marker ?? number, 3.4)} transform={`translate(9 ${middle})`} fill={series.colour} />
          )}
        </>
      )}
      <text
        x={MARK}
        y={middle + 4}
        font-size={SIZE}
        fill={shown ? INK : FAINT}
        text-decoration={shown ? undefined : "line-through"}
      >
        {series.label}
      </text>
    </g>
  );
}
