// Learning curves whose x axis is divided by a power of a parameter. The slider is the exponent: at the right one the curves fall on one another.

import type { CurveFamily } from "../api.ts";
import { crossing, rescaled, spread } from "../collapse.ts";
import { Figure } from "../draw/figure.tsx";
import { ordered } from "../draw/palette.ts";
import { Plot } from "../draw/plot.tsx";
import type { Guide, Series } from "../draw/series.ts";
import { compact, number } from "../format.ts";
import { notation, power } from "../notation.ts";
import { Select, Slider } from "../parts/controls.tsx";
import { type State, update } from "../state.ts";

const HEIGHT = 360;

/** The exponent of the slider: as chosen, or measured, or predicted. */
export function shownExponent(state: State, family: CurveFamily): number {
  return Number.isNaN(state.exponent) ? Number((family.measured?.value ?? family.predicted ?? 0).toFixed(2)) : state.exponent;
}

export function shownCurves(state: State, family: CurveFamily): CurveFamily["curves"] {
  return family.curves.filter((curve) => !state.hidden.includes(curve.label));
}

export function CollapseFigure({
  state,
  families,
  family,
}: {
  state: State;
  families: readonly CurveFamily[];
  family: CurveFamily;
}) {
  const exponent = shownExponent(state, family);
  const choose = (value: number) => update({ exponent: Number(value.toFixed(2)) });
  const measured = family.measured?.value ?? null;
  const left = family.level === null ? null : spread(shownCurves(state, family), family.level, exponent);
  const highest = Math.max(4, Math.ceil((measured ?? 0) + 1), Math.ceil((family.predicted ?? 0) + 1));
  return (
    <div>
      <Figure
        name="collapse"
        title={`${notation(family.y)} against ${notation(family.x)}`}
        height={HEIGHT}
        controls={
          families.length < 2 ? undefined : (
            <Select
              label="curves"
              value={String(families.indexOf(family))}
              options={families.map((one, k) => ({
                value: String(k),
                label: notation([one.fit, one.group].filter((part) => part !== "").join(", ")),
              }))}
              onChange={(value) => update({ family: Number(value), exponent: NaN, hidden: [] })}
            />
          )
        }
        caption="Click on the entries of the legend to hide and show curves."
      >
        {(width) => <Curves width={width} state={state} family={family} exponent={exponent} />}
      </Figure>
      <div class="exponent">
        <Slider
          label={`Exponent of ${notation(family.by)}`}
          value={exponent}
          low={0}
          high={highest}
          step={0.01}
          onChange={choose}
        />
        <div class="row tight">
          <button type="button" onClick={() => choose(0)}>
            none
          </button>
          {family.predicted === null ? null : (
            <button type="button" onClick={() => choose(family.predicted!)}>
              predicted {compact(family.predicted)}
            </button>
          )}
          {measured === null ? null : (
            <button type="button" onClick={() => choose(measured)}>
              measured {number(measured)}
            </button>
          )}
        </div>
        <p class="hint" role="status">
          {left === null
            ? "\u00a0"
            : `The crossings of ${number(family.level)} differ from one another by a factor of ${number(left)}.`}
        </p>
      </div>
    </div>
  );
}

function Curves({ width, state, family, exponent }: { width: number; state: State; family: CurveFamily; exponent: number }) {
  const series: Series[] = family.curves.map((curve, k) => ({
    key: curve.label,
    label: notation(curve.label),
    colour: ordered(k, family.curves.length),
    points: curve.points.map(({ x, y, stderr, seeds }) => ({
      x: rescaled(x, curve.by, exponent),
      y,
      ...(stderr === null ? {} : { low: y - stderr, high: y + stderr }),
      title: `${notation(curve.label)}\n${notation(family.x)}: ${number(x)}\n${notation(family.y)}: ${number(y)}${stderr === null ? "" : ` ± ${number(stderr, 2)}`}\n${seeds} ${seeds === 1 ? "seed" : "seeds"}`,
    })),
  }));
  const guides: Guide[] =
    family.level === null ? [] : [{ y: family.level, label: `${notation(family.y)} = ${number(family.level)}` }];
  const by = exponent === 0 ? "" : ` / ${power(family.by, exponent.toFixed(2))}`;
  const crossings =
    family.level === null ? [] : family.curves.map((curve) => crossing(curve, family.level!)).filter((at) => at !== null);
  return (
    <Plot
      width={width}
      height={HEIGHT}
      summary={`${family.curves.length} curves of ${notation(family.y)} against ${notation(family.x)}${by}, for ${family.curves.map((curve) => notation(curve.label)).join(", ")}. ${crossings.length} of them cross the level.`}
      x={{ label: `${notation(family.x)}${by}`, kind: "log" }}
      y={{ label: notation(family.y), low: 0 }}
      series={series}
      guides={guides}
      hidden={new Set(state.hidden)}
      onToggle={(key) =>
        update({ hidden: state.hidden.includes(key) ? state.hidden.filter((one) => one !== key) : [...state.hidden, key] })
      }
    />
  );
}
