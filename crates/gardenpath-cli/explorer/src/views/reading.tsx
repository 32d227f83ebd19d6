// Reading a sentence: what it can mean, and what was known after each token.

import { useState } from "preact/hooks";
import type { Ambiguous, Language, Reading } from "../api.ts";
import { ask } from "../client.ts";
import { counted, number, percent } from "../format.ts";
import { type Fact, Facts } from "../parts/facts.tsx";
import { GrammarLine } from "../parts/grammar-line.tsx";
import { Message } from "../parts/message.tsx";
import { SentenceEditor } from "../parts/sentence-editor.tsx";
import { Stepper } from "../parts/stepper.tsx";
import { ChartFigure } from "../pictures/chart.tsx";
import { GardenFigure } from "../pictures/garden.tsx";
import { HiddenFigure } from "../pictures/hidden.tsx";
import { ClassFigure, NextFigure, StepHiddenFigure } from "../pictures/step.tsx";
import { TreeFigure } from "../pictures/tree.tsx";
import { useQuery } from "../query.ts";
import { type State, update } from "../state.ts";
import type { ViewProps } from "./language.tsx";

/** Some tokens of the sentence, pointed at in a picture. */
export interface Span {
  start: number;
  span: number;
}

const TREES = 12;
/** Longer sentences need the whole width. */
const WIDE = 20;

export function ReadingView({ state, server, grammar, language }: ViewProps) {
  const what = state.tokens.length > 0 ? { tokens: state.tokens } : { sample: { seed: state.sampleSeed, number: state.sample } };
  const reading = useQuery<Reading>(grammar === null ? null : "/api/reading", { grammar, ...what, trees: TREES }, 30);
  const [span, setSpan] = useState<Span | null>(null);
  const names = language.value;
  const read = reading.value;
  return (
    <div class="content" aria-busy={reading.busy}>
      <GrammarLine state={state} server={server} language={names} />
      <div class="panel wide">
        <Source state={state} grammar={grammar} />
        <SentenceEditor state={state} language={names} tokens={read?.tokens ?? state.tokens} span={span} />
        <Stepper step={state.step} length={read?.tokens.length ?? state.tokens.length} />
      </div>
      <div class="summary" role="status">
        {read === null || names === null ? (
          <Message error={reading.error ?? language.error} />
        ) : (
          <Verdict reading={read} language={names} />
        )}
      </div>
      {read === null || names === null ? (
        <div class="placeholder" />
      ) : (
        <Pictures state={state} reading={read} language={names} onSpan={setSpan} />
      )}
    </div>
  );
}

/** Where sentences come from. */
function Source({ state, grammar }: { state: State; grammar: ViewProps["grammar"] }) {
  const [note, setNote] = useState("");
  const [busy, setBusy] = useState(false);
  const find = async () => {
    setBusy(true);
    setNote("");
    try {
      const seed = state.ambiguousSeed + 1;
      const { found, tried } = await ask<Ambiguous>("POST", "/api/ambiguous", { grammar, seed });
      if (found === null) setNote(`None of ${counted(tried, "sentence")} is ambiguous.`);
      else update({ ambiguousSeed: seed, tokens: found.tokens, step: 0 });
    } catch (problem) {
      setNote(problem instanceof Error ? problem.message : String(problem));
    }
    setBusy(false);
  };
  return (
    <div class="row">
      <button type="button" onClick={() => update({ tokens: [], sample: state.sample + 1, step: 0 })}>
        Sample a sentence
      </button>
      <button type="button" onClick={() => void find()} disabled={busy || grammar === null}>
        Find an ambiguous sentence
      </button>
      <span class="hint" role="status">
        {busy ? "Looking…" : note}
      </span>
    </div>
  );
}

function Verdict({ reading, language }: { reading: Reading; language: Language }) {
  if (reading.logprob === null) {
    return <p class="message error">No sentence of this language{reading.why === null ? "." : `: ${reading.why}`}</p>;
  }
  const best = reading.posterior.indexOf(Math.max(...reading.posterior));
  const classes = reading.posterior.filter((probability) => probability > 0).length;
  const name = (root: number) => language.names[0]?.[root];
  const written =
    reading.truth === null
      ? ""
      : reading.truth.root === best
        ? ", as it was written"
        : `; written as ${name(reading.truth.root)}`;
  const facts: Fact[] = [
    [trees(reading.tree_count), classes === 1 ? "of one class" : `of ${classes} classes`],
    [`class ${name(best)}`, `${percent(reading.posterior[best])}${written}`],
    [`${number(reading.entropy)} nats`, "class entropy"],
    [`ln P = ${number(reading.logprob)}`, counted(reading.tokens.length, "token")],
  ];
  return <Facts facts={facts} />;
}

/** A number of trees, which may have hundreds of digits. */
function trees(digits: string): string {
  return digits.length > 15 ? `${number(Number(digits))} trees` : counted(Number(digits), "tree");
}

interface PicturesProps {
  state: State;
  reading: Reading;
  language: Language;
  onSpan: (span: Span | null) => void;
}

function Pictures({ state, reading, language, onSpan }: PicturesProps) {
  const step = Math.min(state.step, reading.tokens.length + 1);
  const classes = [...new Set(reading.trees.map((tree) => tree.root))];
  const listed = reading.trees.length;
  // Trees of long sentences need more room.
  const widest = Math.max(360, 30 * reading.tokens.length);
  return (
    <>
      <GardenFigure reading={reading} language={language} step={step} />
      <div class="triple">
        <NextFigure reading={reading} language={language} step={step} />
        <ClassFigure reading={reading} language={language} step={step} />
        <StepHiddenFigure reading={reading} language={language} step={step} />
      </div>
      {listed === 0 ? null : (
        <section aria-label="Trees">
          <h2>
            Trees{" "}
            <span class="note">
              {String(listed) === reading.tree_count ? "" : `the ${listed} most probable ones of ${reading.tree_count}`}
            </span>
          </h2>
          <div class="trees" style={{ gridTemplateColumns: `repeat(auto-fill, minmax(min(100%, ${widest}px), 1fr))` }}>
            {reading.trees.map((tree, k) => (
              <TreeFigure
                key={tree.tree}
                tree={tree}
                written={tree.tree === reading.truth?.tree}
                number={k + 1}
                colour={classes.indexOf(tree.root)}
                tokens={reading.tokens.length}
                language={language}
                onSpan={onSpan}
              />
            ))}
          </div>
        </section>
      )}
      <div class={reading.tokens.length <= WIDE ? "pair" : "content"}>
        <ChartFigure reading={reading} language={language} level={state.chartLevel} onSpan={onSpan} />
        <HiddenFigure reading={reading} language={language} />
      </div>
    </>
  );
}
