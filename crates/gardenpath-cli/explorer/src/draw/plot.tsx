// A plot: axes, series with error bars, guides and a legend. The mouse, or the arrow keys, show the numbers of single points.

import { useState } from "preact/hooks";
import { number } from "../format.ts";
import { Axes, axisTicks, labelRoom, type Frame } from "./axes.tsx";
import { arrange, Legend } from "./legend.tsx";
import { Marks } from "./marks.tsx";
import { FAINT, INK, LINE, PAPER, short } from "./palette.ts";
import { scale } from "./scale.ts";
import type { Axis, Guide, Point, Series } from "./series.ts";
import { FONT, SIZE, textWidth } from "./text.ts";

interface PlotProps {
  width: number;
  height: number;
  /** What the picture shows, for those who do not see it. */
  summary: string;
  x: Axis;
  y: Axis;
  series: readonly Series[];
  guides?: readonly Guide[];
  hidden?: ReadonlySet<string>;
  /** Makes the entries of the legend switch their series on and off. */
  onToggle?: (key: string) => void;
}

const NONE: ReadonlySet<string> = new Set();

export function Plot({ width, height, summary, x, y, series, guides = [], hidden = NONE, onToggle }: PlotProps) {
  const [hover, setHover] = useState<{ key: string; index: number } | null>(null);
  const shown = series.filter((one) => !hidden.has(one.key));
  const points = shown.flatMap((one) => one.points);
  const bars = shown.some((one) => one.kind === "bars");

  const ys = points.flatMap((point) => [point.y, point.low ?? point.y, point.high ?? point.y]);
  const yScale = scale(y.kind ?? "linear", [...ys, ...guides.flatMap((guide) => guide.y ?? [])], {
    low: bars ? 0 : y.low,
    high: y.high,
  });
  const xs = points.map((point) => point.x);
  const half = bars ? 0.6 : undefined;
  const xEnds = half === undefined ? x : { low: Math.min(...xs) - half, high: Math.max(...xs) + half };
  const xScale = scale(x.kind ?? "linear", [...xs, ...guides.flatMap((guide) => guide.x ?? [])], xEnds);

  const right = width - 12;
  const bottom = height - 44;
  const yTicks = axisTicks(y, yScale, height - 80, 38);
  const left = Math.ceil(30 + labelRoom(yTicks));
  const legend = arrange(series, left, right);
  const frame: Frame = { left, right, top: legend.height + 10, bottom };
  const xTicks = axisTicks(x, xScale, right - left, 64);
  const across = (value: number) => short(left + xScale.place(value) * (right - left));
  const up = (value: number) => short(bottom - yScale.place(value) * (bottom - frame.top));

  const nearest = (event: PointerEvent) => {
    const box = (event.currentTarget as SVGSVGElement).getBoundingClientRect();
    const [atX, atY] = [event.clientX - box.left, event.clientY - box.top];
    let best: { key: string; index: number; distance: number } | null = null;
    for (const one of shown) {
      one.points.forEach((point, index) => {
        const [dx, dy] = [across(point.x) - atX, one.kind === "bars" ? 0 : up(point.y) - atY];
        const distance = dx * dx + dy * dy;
        if (distance < (best?.distance ?? 40 * 40)) best = { key: one.key, index, distance };
      });
    }
    setHover(best);
  };
  const step = (event: KeyboardEvent) => {
    const along = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const over = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === "Escape") return setHover(null);
    if ((along ?? over) === undefined || event.target !== event.currentTarget || shown.length === 0) return;
    event.preventDefault();
    const at = Math.max(
      0,
      shown.findIndex((one) => one.key === hover?.key),
    );
    const one = shown[(at + (over ?? 0) + shown.length) % shown.length]!;
    const index = hover === null ? 0 : Math.min(Math.max(hover.index + (along ?? 0), 0), one.points.length - 1);
    if (one.points.length > 0) setHover({ key: one.key, index });
  };

  const hovered = shown.find((one) => one.key === hover?.key);
  const point = hover === null ? undefined : hovered?.points[hover.index];
  const lines = hovered && point ? describe(hovered, point, x, y) : [];
  return (
    <>
      <svg
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        font-family={FONT}
        role="group"
        aria-roledescription="plot"
        aria-label={summary}
        tabindex={0}
        onPointerMove={nearest}
        onPointerLeave={() => setHover(null)}
        onKeyDown={step}
        onBlur={() => setHover(null)}
      >
        <Axes frame={frame} x={{ axis: x, scale: xScale, ticks: xTicks }} y={{ axis: y, scale: yScale, ticks: yTicks }} />
        <Guides guides={guides} frame={frame} across={across} up={up} />
        {series.map((one, k) =>
          hidden.has(one.key) ? null : <Marks key={one.key} series={one} number={k} across={across} up={up} bottom={bottom} />,
        )}
        <Legend entries={legend.entries} hidden={hidden} onToggle={onToggle} />
        {point && hovered ? (
          <Hover lines={lines} x={across(point.x)} y={up(point.y)} frame={frame} colour={hovered.colour} />
        ) : null}
      </svg>
      <div class="unseen" aria-live="polite">
        {lines.join(", ")}
      </div>
    </>
  );
}

function describe(series: Series, point: Point, x: Axis, y: Axis): string[] {
  if (point.title !== undefined) return point.title.split("\n");
  const at = x.names?.[point.x] ?? number(point.x);
  const range =
    typeof point.low === "number" && typeof point.high === "number" ? ` (${number(point.low)} to ${number(point.high)})` : "";
  return [...(series.label === "" ? [] : [series.label]), `${x.label}: ${at}`, `${y.label}: ${number(point.y)}${range}`];
}

function Hover({ lines, x, y, frame, colour }: { lines: string[]; x: number; y: number; frame: Frame; colour: string }) {
  const width = Math.max(...lines.map((line) => textWidth(line))) + 16;
  const height = lines.length * 16 + 10;
  const left = x + 12 + width > frame.right ? Math.max(2, x - 12 - width) : x + 12;
  const top = Math.min(Math.max(y - height - 8, 2), frame.bottom - height);
  return (
    <g data-transient="" pointer-events="none">
      <circle cx={x} cy={y} r={6} fill="none" stroke={colour} stroke-width={1.8} />
      <rect x={left} y={top} width={width} height={height} rx={5} fill={PAPER} stroke={LINE} />
      {lines.map((line, k) => (
        <text
          key={k}
          x={left + 8}
          y={top + 17 + 16 * k}
          font-size={SIZE}
          fill={INK}
          font-weight={k === 0 && lines.length > 2 ? 600 : 400}
        >
          {line}
        </text>
      ))}
    </g>
  );
}

interface GuidesProps {
  guides: readonly Guide[];
  frame: Frame;
  across: (value: number) => number;
  up: (value: number) => number;
}

/** Labels give way to one another downwards. */
function Guides({ guides, frame, across, up }: GuidesProps) {
  const taken: number[] = [];
  return (
    <g>
      {guides.map((guide) => {
        const colour = guide.colour ?? FAINT;
        if (guide.y !== undefined) {
          const at = up(guide.y);
          if (Number.isNaN(at)) return null;
          let label = at - 5 < frame.top + 8 ? at + 14 : at - 5;
          while (taken.some((other) => Math.abs(other - label) < 13)) label += 13;
          taken.push(label, at);
          const left = guide.side === "left";
          return (
            <g key={guide.label}>
              <path
                d={`M${frame.left} ${at}H${frame.right}`}
                stroke={colour}
                stroke-width={1.2}
                stroke-dasharray={guide.dash ?? "5 4"}
              />
              <text
                x={left ? frame.left + 6 : frame.right - 4}
                y={label}
                text-anchor={left ? "start" : "end"}
                font-size={SIZE - 1}
                fill={colour}
                stroke={PAPER}
                stroke-width={3}
                paint-order="stroke"
              >
                {guide.label}
              </text>
            </g>
          );
        }
        const at = across(guide.x ?? NaN);
        if (Number.isNaN(at)) return null;
        const before = at + textWidth(guide.label, SIZE - 1) + 8 > frame.right;
        let label = frame.top + 10;
        while (taken.some((other) => Math.abs(other - label + 4) < 9)) label += 9;
        taken.push(label);
        return (
          <g key={guide.label}>
            <path
              d={`M${at} ${frame.top}V${frame.bottom}`}
              stroke={colour}
              stroke-width={1.2}
              stroke-dasharray={guide.dash ?? "5 4"}
            />
            <text
              x={before ? at - 5 : at + 5}
              y={label}
              text-anchor={before ? "end" : "start"}
              font-size={SIZE - 1}
              fill={colour}
              stroke={PAPER}
              stroke-width={3}
              paint-order="stroke"
            >
              {guide.label}
            </text>
          </g>
        );
      })}
    </g>
  );
}
