// The frame of a plot: grid lines, ticks and the labels of both axes.

import { FAINT, INK, LINE, short } from "./palette.ts";
import type { Scale, Tick } from "./scale.ts";
import type { Axis } from "./series.ts";
import { SIZE, textWidth } from "./text.ts";

export interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** The ticks of an axis: those of its scale, or its names as far as they fit. */
export function axisTicks(axis: Axis, scale: Scale, length: number, perLabel: number): Tick[] {
  if (axis.names === undefined) return scale.ticks(Math.max(2, Math.floor(length / perLabel)));
  const widest = Math.max(...axis.names.map((name) => textWidth(name, SIZE - 1)));
  const every = Math.ceil((axis.names.length * (widest + 6)) / length);
  return axis.names.map((label, value) => ({ value, label: value % every === 0 ? label : "" }));
}

/** The room that the labels of the y axis need on its left. */
export function labelRoom(ticks: readonly Tick[]): number {
  return Math.max(0, ...ticks.map((tick) => textWidth(tick.label, SIZE - 1)));
}

interface AxesProps {
  frame: Frame;
  x: { axis: Axis; scale: Scale; ticks: readonly Tick[] };
  y: { axis: Axis; scale: Scale; ticks: readonly Tick[] };
}

export function Axes({ frame, x, y }: AxesProps) {
  const { left, right, top, bottom } = frame;
  const across = (value: number) => short(left + x.scale.place(value) * (right - left));
  const up = (value: number) => short(bottom - y.scale.place(value) * (bottom - top));
  return (
    <g font-size={SIZE - 1} fill={FAINT}>
      {y.ticks.map(({ value, label }) => (
        <g key={value}>
          {label === "" ? null : <path d={`M${left} ${up(value)}H${right}`} stroke={LINE} stroke-width={0.7} opacity={0.8} />}
          <path d={`M${left} ${up(value)}h${label === "" ? -3 : -5}`} stroke={FAINT} stroke-width={0.8} />
          <text x={left - 8} y={up(value) + 4} text-anchor="end">
            {label}
          </text>
        </g>
      ))}
      {x.ticks.map(({ value, label }) => (
        <g key={value}>
          <path d={`M${across(value)} ${bottom}v${label === "" ? 3 : 5}`} stroke={FAINT} stroke-width={0.8} />
          <text x={across(value)} y={bottom + 18} text-anchor="middle">
            {label}
          </text>
        </g>
      ))}
      <path d={`M${left} ${top}V${bottom}H${right}`} fill="none" stroke={FAINT} stroke-width={1} />
      <text x={(left + right) / 2} y={bottom + 36} text-anchor="middle" font-size={SIZE} fill={INK}>
        {x.axis.label}
      </text>
      <text transform={`translate(12 ${short((top + bottom) / 2)}) rotate(-90)`} text-anchor="middle" font-size={SIZE} fill={INK}>
        {y.axis.label}
      </text>
    </g>
  );
}
