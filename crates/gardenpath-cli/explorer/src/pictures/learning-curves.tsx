// Learning curves of the work that goes on, beside the floors that nobody can beat.

import type { CurvePoint } from "../api.ts";
import { ACCENT, categorical, FAINT } from "../draw/palette.ts";
import { Plot } from "../draw/plot.tsx";
import type { Axis, Guide, Point, Series } from "../draw/series.ts";
import { count, number, percent } from "../format.ts";
import type { Job } from "../job.ts";

interface CurvesProps {
  width: number;
  height: number;
  job: Job;
}

function axis(job: Job): Axis {
  const { learner } = job.request;
  // How far a learner will come is known.
  if (learner !== undefined)
    return {
      label: "sentences",
      kind: "log",
      low: (job.points[0]?.x ?? learner.samples / 16) * 0.85,
      high: learner.samples * 1.2,
    };
  return { label: "steps", kind: "log", low: 1, ...(job.points.length > 1 ? {} : { high: 1000 }) };
}

function taken(
  points: readonly CurvePoint[],
  unit: string,
  value: (point: CurvePoint) => number | null,
  print: (value: number) => string,
): Point[] {
  return points.flatMap((point) => {
    const y = value(point);
    // A network is measured before its first step, too; a logarithm has no place for it.
    return y === null
      ? []
      : [
          {
            x: Math.max(point.x, 1),
            y,
            title: `${count(point.x)} ${unit}\n${print(y)}${point.verdict === null ? "" : `\n${point.verdict}`}`,
          },
        ];
  });
}

export function Losses({ width, height, job }: CurvesProps) {
  const { floors, points } = job;
  const x = axis(job);
  const series: Series[] = [
    {
      key: "test",
      label: job.request.network === undefined ? "" : "test",
      colour: ACCENT,
      points: taken(
        points,
        x.label,
        (point) => point.test_loss,
        (y) => `test loss ${number(y)}`,
      ),
    },
  ];
  if (job.request.network !== undefined) {
    series.push({
      key: "train",
      label: "training",
      colour: categorical(1),
      markers: false,
      points: taken(
        points,
        x.label,
        (point) => point.train_loss,
        (y) => `training loss ${number(y)}`,
      ),
    });
  }
  const guides: Guide[] = [];
  if (floors !== null) {
    // Losses per token count the ends of sentences, too, which guessing among tokens does not.
    if (floors.unit === "sentence") guides.push({ y: floors.guessing, label: "guessing", colour: FAINT });
    guides.push({ y: floors.bayes, label: "best possible", side: "left", colour: categorical(2), dash: "" });
    // The last level is the floor itself.
    floors.levels?.slice(0, -1).forEach((y, known) => {
      guides.push({
        y,
        label: known === 0 ? "knows no rules" : known === 1 ? "knows the lowest layer" : `knows the lowest ${known} layers`,
        side: "left",
        colour: categorical(5),
        dash: "2 3",
      });
    });
  }
  const last = points.at(-1);
  return (
    <Plot
      width={width}
      height={height}
      summary={
        last === undefined
          ? "No measurements yet."
          : `Test loss ${number(last.test_loss)} after ${count(last.x)} ${x.label}; the best possible is ${number(floors?.bayes)}.`
      }
      x={x}
      y={{ label: `loss, nats per ${floors?.unit ?? "sentence"}` }}
      series={series}
      guides={guides}
    />
  );
}

export function Accuracies({ width, height, job }: CurvesProps) {
  const { floors, points } = job;
  const x = axis(job);
  const guides: Guide[] = [];
  if (floors?.bayes_accuracy != null)
    guides.push({
      y: floors.bayes_accuracy,
      label: `best possible ${percent(floors.bayes_accuracy)}`,
      side: "left",
      colour: categorical(2),
      dash: "",
    });
  if (floors !== null && floors.unit === "sentence")
    guides.push({ y: Math.exp(-floors.guessing), label: "guessing", colour: FAINT });
  const series: Series[] = [
    {
      key: "accuracy",
      label: "",
      colour: ACCENT,
      points: taken(
        points,
        x.label,
        (point) => point.test_accuracy,
        (y) => `accuracy ${percent(y)}`,
      ),
    },
  ];
  return (
    <Plot
      width={width}
      height={height}
      summary={`Accuracy on test sentences, last ${percent(points.at(-1)?.test_accuracy)}.`}
      x={x}
      y={{ label: "accuracy", low: 0, high: 1 }}
      series={series}
      guides={guides}
    />
  );
}
