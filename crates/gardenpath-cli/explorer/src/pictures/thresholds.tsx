// P*: how many samples are needed, with intervals, and the power law of the slider through them.

import type { CurveFamily, Threshold } from "../api.ts";
import { Figure } from "../draw/figure.tsx";
import { ACCENT, categorical } from "../draw/palette.ts";
import { Plot } from "../draw/plot.tsx";
import type { Series } from "../draw/series.ts";
import { number } from "../format.ts";
import { notation, power } from "../notation.ts";
import { interval } from "../parts/claim-table.tsx";
import type { State } from "../state.ts";
import { shownExponent } from "./collapse.tsx";

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
        title={`P*: where ${notation(family.y)} is ${number(family.level)}`}
        height={HEIGHT}
        caption="Intervals are 95%. The line is the power law of the slider."
      >
        {(width) =>
          shown.every(({ threshold }) => threshold.value === null) ? (
            <p class="message">No curve crosses it.</p>
          ) : (
            <Law width={width} family={family} shown={shown} exponent={exponent} />
          )
        }
      </Figure>
      <table class="numbers">
        <thead>
          <tr>
            <th scope="col">curve</th>
            <th scope="col">P*</th>
            <th scope="col">95% interval</th>
            <th scope="col">seeds</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ curve, threshold: one }) => (
            <tr key={one.words}>
              <th scope="row">{notation(curve.label)}</th>
              <td>{number(one.value)}</td>
              <td>{one.interval === null ? (one.because ?? "–") : interval(one.interval)}</td>
              <td>{one.seeds}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface Crossing {
  curve: CurveFamily["curves"][number];
  threshold: Threshold;
}

/** The threshold of each curve: the one whose group has all values of the family and of the curve. */
function matching(family: CurveFamily, thresholds: readonly Threshold[]): Crossing[] {
  const parts = (words: string) => words.split(", ").filter((part) => part !== "");
  const same = thresholds.filter((one) => family.level === null || one.level === family.level);
  return family.curves.flatMap((curve) => {
    const wanted = [...parts(family.group), ...parts(curve.label)];
    const found = same.filter((one) => wanted.every((part) => parts(one.words).includes(part)));
    const threshold = found.find((one) => one.fit === family.fit) ?? found[0];
    return threshold === undefined ? [] : [{ curve, threshold }];
  });
}

function Law({ width, family, shown, exponent }: { width: number; family: CurveFamily; shown: Crossing[]; exponent: number }) {
  const points = shown
    .flatMap(({ curve, threshold: { value, interval } }) => {
      if (value === null) return [];
      const [low, high] = interval ?? [null, null];
      return [{ x: curve.by, y: value, low, high }];
    })
    .sort((a, b) => a.x - b.x);
  const series: Series[] = [];
  const [first, last] = [points[0], points.at(-1)];
  if (first !== undefined && last !== undefined && points.length > 1) {
    const offset = points.reduce((sum, point) => sum + Math.log(point.y) - exponent * Math.log(point.x), 0) / points.length;
    const ends = [first.x * 0.9, last.x * 1.1].map((x) => ({ x, y: Math.exp(offset) * x ** exponent }));
    series.push({
      key: "law",
      label: power(family.by, exponent.toFixed(2)),
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
      summary={`P* for ${points.length} values of ${notation(family.by)}: ${points.map((point) => `${number(point.x)}: ${number(point.y)}`).join(", ")}.`}
      x={{ label: notation(family.by), kind: "log" }}
      y={{ label: "P*", kind: "log" }}
      series={series}
    />
  );
}
