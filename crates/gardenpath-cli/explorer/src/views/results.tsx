// Results of experiments: learning curves and the exponent that collapses them, thresholds, and claims with verdicts.

import type { Chapter, ExperimentSummary, Results } from "../api.ts";
import { saveText } from "../draw/save.ts";
import { count } from "../format.ts";
import { ClaimTable } from "../parts/claim-table.tsx";
import { FitTable } from "../parts/fit-table.tsx";
import { Message } from "../parts/message.tsx";
import { Select } from "../parts/controls.tsx";
import { pretty } from "../notation.ts";
import { CollapseFigure } from "../pictures/collapse.tsx";
import { ThresholdFigure } from "../pictures/thresholds.tsx";
import { useQuery } from "../query.ts";
import { type State, update } from "../state.ts";

export function ResultsView({ state }: { state: State }) {
  const results = useQuery<Results>("/api/results");
  const experiments = results.value?.experiments ?? [];
  const chosen = experiments.find((one) => one.name === state.chapter) ?? richest(experiments);
  return (
    <div class="content">
      {results.value === null ? <Message error={results.error} /> : null}
      {results.busy && results.value === null ? <p class="message">Reading the store…</p> : null}
      {results.value !== null && chosen === undefined ? (
        <p class="message">
          There are no results to show. Start the explorer with <code>--store DIR</code>, a directory of{" "}
          <code>gardenpath sweep</code> or <code>gardenpath reproduce</code>.
        </p>
      ) : null}
      {chosen === undefined ? null : <Experiment state={state} experiments={experiments} chosen={chosen} />}
    </div>
  );
}

/** The experiment with most results. */
function richest(experiments: readonly ExperimentSummary[]): ExperimentSummary | undefined {
  const done = (one: ExperimentSummary) => Math.max(0, ...one.scales.map((scale) => scale.done));
  return [...experiments].sort((a, b) => done(b) - done(a))[0];
}

interface ExperimentProps {
  state: State;
  experiments: readonly ExperimentSummary[];
  chosen: ExperimentSummary;
}

function Experiment({ state, experiments, chosen }: ExperimentProps) {
  const scale = chosen.scales.find((one) => one.name === state.scale)?.name ?? "";
  const query = scale === "" ? "" : `?scale=${encodeURIComponent(scale)}`;
  const answer = useQuery<Chapter>(`/api/results/${encodeURIComponent(chosen.name)}${query}`);
  const chapter = answer.value?.name === chosen.name ? answer.value : null;
  const anew = { family: 0, exponent: NaN, hidden: [] } as const;
  return (
    <>
      <div class="row">
        <Select
          label="Experiment"
          value={chosen.name}
          options={experiments.map((one) => ({
            value: one.name,
            label: `${one.name}${one.scales.some((each) => each.done > 0) ? "" : " (no results)"}`,
          }))}
          onChange={(name) => update({ chapter: name, scale: "", ...anew })}
        />
        {chosen.scales.length === 0 ? null : (
          <Select
            label="Scale"
            value={scale || (chapter?.scale ?? "")}
            options={chosen.scales.map((one) => ({
              value: one.name,
              label: `${one.name}: ${count(one.done)} of ${count(one.cells)} cells`,
            }))}
            onChange={(name) => update({ scale: name, ...anew })}
          />
        )}
      </div>
      <h2>{pretty(chosen.title)}</h2>
      <p class="expects">{pretty(chapter?.expects ?? "\u00a0")}</p>
      <Message error={answer.error ?? chapter?.problem ?? null} />
      {answer.busy && chapter === null ? <div class="placeholder" /> : null}
      {chapter === null ? null : <ChapterParts state={state} chapter={chapter} />}
    </>
  );
}

function ChapterParts({ state, chapter }: { state: State; chapter: Chapter }) {
  const family = chapter.curves[Math.min(state.family, chapter.curves.length - 1)];
  return (
    <>
      {family === undefined ? null : (
        <div class="pair">
          <CollapseFigure state={state} families={chapter.curves} family={family} />
          <ThresholdFigure state={state} family={family} thresholds={chapter.thresholds} />
        </div>
      )}
      <ClaimTable claims={chapter.claims} />
      <FitTable fits={chapter.fits} />
      {chapter.svg === null ? null : <ReportFigure svg={chapter.svg} name={chapter.name} caption={chapter.caption} />}
    </>
  );
}

/** The figure as the report draws it. */
function ReportFigure({ svg, name, caption }: { svg: string; name: string; caption: string }) {
  return (
    <figure class="figure">
      <div class="figure-head">
        <h3>Figure of the report</h3>
        <button
          type="button"
          class="quiet save"
          onClick={() => saveText(`${name}.svg`, "image/svg+xml", svg)}
          aria-label="Save “Figure of the report” as SVG"
          title="Save as SVG"
        >
          SVG
        </button>
      </div>
      <div class="card">
        <img src={`data:image/svg+xml,${encodeURIComponent(svg)}`} alt={caption} />
      </div>
      <figcaption>{pretty(caption)}</figcaption>
    </figure>
  );
}
