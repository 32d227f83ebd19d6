// P*: how many samples are needed, with intervals, and the power law of the slider through them.

import type { CurveFamily, Threshold } from "../api.ts";
import { Figure } from "../draw/figure.tsx";
import { ACCENT, categorical } from "../draw/palette.ts";
import { Plot } from "../draw/plot.tsx";
import type { Series } from "../draw/series.ts";
import { number } from "../format.ts";
import type { State } from "../state.ts";
import { shownExponent, words } from "./collapse.tsx";

const HEIGHT = 360;

interface ThresholdFigureProps {
  state: State;
  family: CurveFamily;
  thresholds: readonly Threshold[];
}

export function ThresholdFigure({ state, family, thresholds }: ThresholdFigureProps) {
  const shown = matching(family, thresholds);
  const exponent = shownExponent(state, family);
  return (
    <div>
      <Figure
        name="thresholds"
        title={`P*: where ${words(family.y)} is ${number(family.level)}`}
        height={HEIGHT}
        caption="Intervals are 95%. The line is the power law of the slider."
      >
        {(width) =>
          shown.length === 0 ? (
            <p class="message">No thresholds.</p>
          ) : (
            <Law width={width} family={family} shown={shown} exponent={exponent} />
          )
        }
      </Figure>
      <table class="numbers">
        <thead>
          <tr>
            <th scope="col">{family.by}</th>
            <th scope="col">P*</th>
            <th scope="col">95% interval</th>
            <th scope="col">seeds</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => (
            <tr key={one.words}>
              <th scope="row">{String(one.group[family.by])}</th>
              <td>{number(one.value)}</td>
              <td>{one.interval === null ? (one.because ?? "–") : `${number(one.interval[0])} to ${number(one.interval[1])}`}</td>
              <td>{one.seeds}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The thresholds of a family's curves: those whose group is in words what the family's is, but for the parameter itself. */
function matching(family: CurveFamily, thresholds: readonly Threshold[]): Threshold[] {
  const own = family.group.split(", ").filter((part) => part !== "");
  const same = thresholds.filter((one) => one.fit === family.fit);
  return (same.length > 0 ? same : thresholds)
    .filter((one) => typeof one.group[family.by] === "number" && own.every((part) => one.words.split(", ").includes(part)))
    .filter((one) => family.level === null || one.level === family.level)
    .sort((a, b) => Number(a.group[family.by]) - Number(b.group[family.by]));
}

function Law({ width, family, shown, exponent }: { width: number; family: CurveFamily; shown: Threshold[]; exponent: number }) {
  const points = shown.flatMap((one) => {
    if (one.value === null) return [];
    const [low, high] = one.interval ?? [null, null];
    return [{ x: Number(one.group[family.by]), y: one.value, low, high }];
  });
  const series: Series[] = [];
  const [first, last] = [points[0], points.at(-1)];
  if (first !== undefined && last !== undefined && points.length > 1) {
    const offset = points.reduce((sum, point) => sum + Math.log(point.y) - exponent * Math.log(point.x), 0) / points.length;
    const ends = [first.x * 0.9, last.x * 1.1].map((x) => ({ x, y: Math.exp(offset) * x ** exponent }));
    series.push({
      key: "law",
      label: `${family.by}^${number(exponent)}`,
      colour: categorical(1),
      markers: false,
      dash: "6 3",
      points: ends,
    });
  }
  series.push({ key: "measured", label: "measured", colour: ACCENT, line: false, marker: 0, points });
  return (
    <Plot
      width={width}
      height={HEIGHT}
      summary={`P* for ${points.length} values of ${family.by}: ${points.map((point) => `${number(point.x)}: ${number(point.y)}`).join(", ")}.`}
      x={{ label: family.by, kind: "log" }}
      y={{ label: `P*, ${words(family.x)}`, kind: "log" }}
      series={series}
    />
  );
}
