// One series: a line with markers and error bars, or bars.

import { marker, PAPER, short } from "./palette.ts";
import type { Series } from "./series.ts";

interface MarksProps {
  series: Series;
  number: number;
  across: (value: number) => number;
  up: (value: number) => number;
  /** Where bars stand. */
  bottom: number;
}

export function Marks({ series, number, across, up, bottom }: MarksProps) {
  const places = series.points
    .map((point) => ({ point, x: across(point.x), y: up(point.y) }))
    .filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
  if (series.kind === "bars") {
    const width = Math.max(1, Math.min(28, Math.abs(across(1) - across(0)) * 0.78));
    return (
      <g fill={series.colour}>
        {places.map(({ point, x, y }) => (
          <rect key={point.x} x={short(x - width / 2)} y={y} width={short(width)} height={Math.max(0, short(bottom - y))} />
        ))}
      </g>
    );
  }
  const line = places.map(({ x, y }) => `${x} ${y}`).join("L");
  const shape = marker(series.marker ?? number, 3.4);
  return (
    <g>
      {places.map(({ point, x }, k) => {
        if (typeof point.low !== "number" || typeof point.high !== "number") return null;
        const [low, high] = [up(point.low), up(point.high)];
        if (!Number.isFinite(low) || !Number.isFinite(high)) return null;
        return (
          <path key={k} d={`M${x} ${low}V${high}m-3 0h6M${x - 3} ${low}h6`} stroke={series.colour} stroke-width={1} fill="none" />
        );
      })}
      {series.line === false || line === "" ? null : (
        <path
          d={`M${line}`}
          fill="none"
          stroke={series.colour}
          stroke-width={series.width ?? 1.8}
          stroke-dasharray={series.dash ?? ""}
          stroke-linejoin="round"
        />
      )}
      {series.markers === false
        ? null
        : places.map(({ x, y }, k) => (
            <path key={k} d={shape} transform={`translate(${x} ${y})`} fill={series.colour} stroke={PAPER} stroke-width={0.6} />
          ))}
    </g>
  );
}
