// The controls of the grammar: vocabulary, depth, arities, fraction and seed, or a file.

import { useRef, useState } from "preact/hooks";
import type { GrammarChoice, Pcfg } from "../api.ts";
import { ask, type Server } from "../client.ts";
import { saveText } from "../draw/save.ts";
import { number } from "../format.ts";
import { openGrammar } from "../grammar.ts";
import { type State, update } from "../state.ts";
import { Choice, counting, NumberField, Slider } from "./controls.tsx";

const ARITIES = [
  { value: "2:1", label: "2" },
  { value: "2:0.5,3:0.5", label: "2 and 3" },
  { value: "3:1", label: "3" },
];

/** Another language has other sentences: what was read is forgotten. */
const ANEW = { tokens: [], sample: 0, step: 0, first: 0, layer: 0, parent: 0 } as const;

interface GrammarControlsProps {
  state: State;
  server: Server;
  grammar: GrammarChoice | null;
  critical: number | null;
}

export function GrammarControls({ state, server, grammar, critical }: GrammarControlsProps) {
  const change = (patch: Partial<State>) => update({ ...ANEW, ...patch });
  const given = server.start?.grammar ?? null;
  return (
    <form class="panel" aria-label="Grammar" onSubmit={(event) => event.preventDefault()}>
      {given === null && state.source !== "file" ? null : (
        <Choice
          label="Grammar"
          value={state.source}
          options={[
            { value: "controls" as const, label: "random" },
            ...(given === null ? [] : [{ value: "given" as const, label: given.name }]),
            ...(state.source === "file" ? [{ value: "file" as const, label: "loaded file" }] : []),
          ]}
          onChange={(source) => change({ source })}
        />
      )}
      {state.source === "controls" ? (
        <>
          <Slider
            label="Vocabulary v"
            value={state.vocab}
            low={2}
            high={64}
            whole
            log
            next={counting}
            onChange={(vocab) => change(fitting({ ...state, vocab }))}
          />
          <Slider label="Depth L" value={state.depth} low={1} high={6} whole onChange={(depth) => change({ depth })} />
          <Arities value={state.arities} onChange={(arities) => change(fitting({ ...state, arities }))} />
          <Slider
            label="Fraction f"
            value={state.fraction}
            low={leastFraction(state)}
            high={1}
            log
            onChange={(fraction) => change({ fraction })}
            hint={critical === null ? "of all tuples are rules" : <>of all tuples are rules; critical {number(critical)}</>}
          />
          <div class="control">
            <label>
              <span>Seed</span>
              <NumberField label="Seed" value={state.seed} whole onChange={(seed) => change({ seed })} />
            </label>
            <button type="button" onClick={() => change({ seed: state.seed + 1 })}>
              Next grammar
            </button>
          </div>
        </>
      ) : null}
      <Files grammar={grammar} />
    </form>
  );
}

/** The fraction at which a symbol has one rule with the fewest children. */
function leastFraction({ vocab, arities }: State): number {
  const fewest = Math.min(...arities.split(",").map((part) => parseInt(part, 10)));
  const least = vocab ** (1 - (Number.isFinite(fewest) ? fewest : 2));
  return Math.min(Number(least.toPrecision(3)), 0.5);
}

/** Keeps the fraction within what vocabulary and arities allow. */
function fitting(state: State): Partial<State> {
  const { vocab, arities, fraction } = state;
  return { vocab, arities, fraction: Math.max(fraction, leastFraction(state)) };
}

function Arities({ value, onChange }: { value: string; onChange: (arities: string) => void }) {
  const listed = ARITIES.some((one) => one.value === value);
  const [other, setOther] = useState(!listed);
  const shown = other || !listed ? "other" : value;
  const [draft, setDraft] = useState<string | null>(null);
  const commit = () => {
    if (draft !== null && draft.trim() !== "") onChange(draft.trim());
    setDraft(null);
  };
  return (
    <>
      <Choice
        label="Children of a rule"
        value={shown}
        options={[...ARITIES, { value: "other", label: "other" }]}
        onChange={(choice) => {
          setOther(choice === "other");
          if (choice !== "other") onChange(choice);
        }}
      />
      {shown === "other" ? (
        <label class="select">
          <span>Numbers of children and their probabilities</span>
          <input
            type="text"
            value={draft ?? value}
            placeholder="2:0.5,3:0.5"
            onInput={(event) => setDraft(event.currentTarget.value)}
            onBlur={commit}
            onKeyDown={(event) => event.key === "Enter" && commit()}
          />
        </label>
      ) : null}
    </>
  );
}

function Files({ grammar }: { grammar: GrammarChoice | null }) {
  const chooser = useRef<HTMLInputElement>(null);
  const [note, setNote] = useState("");
  const load = async (file: File | undefined) => {
    if (file === undefined) return;
    if (file.size > 900_000) return setNote("This file is too large: 900 KB at most.");
    const fits = await openGrammar(await file.text());
    setNote(fits ? "" : "This grammar is too long for the URL: a shared link will not show it.");
  };
  const save = async () => {
    try {
      const { text } = await ask<Pcfg>("POST", "/api/pcfg", { grammar });
      saveText("grammar.pcfg", "text/plain", text);
      setNote("");
    } catch (problem) {
      setNote(problem instanceof Error ? problem.message : String(problem));
    }
  };
  const share = async () => {
    await new Promise((resolve) => setTimeout(resolve, 300)); // until the URL says everything
    await navigator.clipboard.writeText(location.href).then(
      () => setNote("Copied."),
      () => setNote("The address of this page is the link."),
    );
  };
  return (
    <div class="row">
      <input
        ref={chooser}
        type="file"
        accept=".pcfg,.json,.txt,text/plain"
        class="unseen"
        tabIndex={-1}
        aria-label="Grammar file"
        onChange={(event) => void load(event.currentTarget.files?.[0])}
      />
      <button type="button" onClick={() => chooser.current?.click()}>
        Load .pcfg
      </button>
      <button type="button" onClick={() => void save()} disabled={grammar === null}>
        Save .pcfg
      </button>
      <button type="button" onClick={() => void share()}>
        Copy link
      </button>
      <span class="hint" role="status">
        {note}
      </span>
    </div>
  );
}
