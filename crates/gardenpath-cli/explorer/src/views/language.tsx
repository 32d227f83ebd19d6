// The language: its rules, how long its sentences are, how ambiguous they are, and some of them.

import type { GrammarChoice, Language } from "../api.ts";
import type { Server } from "../client.ts";
import { Figure } from "../draw/figure.tsx";
import { count, counted, number, percent } from "../format.ts";
import { type Fact, Facts } from "../parts/facts.tsx";
import { GrammarControls } from "../parts/grammar-controls.tsx";
import { Message } from "../parts/message.tsx";
import { Crossover } from "../pictures/crossover.tsx";
import { LengthLaw } from "../pictures/length-law.tsx";
import { RuleList } from "../parts/rule-list.tsx";
import type { Answer } from "../query.ts";
import { type State, update } from "../state.ts";
import { SENTENCES } from "../app.tsx";

export interface ViewProps {
  state: State;
  server: Server;
  grammar: GrammarChoice | null;
  language: Answer<Language>;
}

const HEIGHT = 280;

export function LanguageView({ state, server, grammar, language }: ViewProps) {
  const { value, error, busy } = language;
  return (
    <div class="split">
      <GrammarControls state={state} server={server} grammar={grammar} critical={value?.critical_fraction ?? null} />
      <div class="content" aria-busy={busy}>
        <div class="summary" role="status">
          {value === null ? <Message error={error} /> : <Summary language={value} />}
        </div>
        <div class="pair">
          <Crossover state={state} language={value} height={HEIGHT} />
          <Figure name="lengths" title="Lengths of sentences" height={HEIGHT} caption="Exact probabilities.">
            {(width) => (value === null ? null : <LengthLaw width={width} height={HEIGHT} language={value} />)}
          </Figure>
        </div>
        <div class="pair">
          <Sentences state={state} language={value} />
          <RuleList state={state} grammar={grammar} language={value} />
        </div>
      </div>
    </div>
  );
}

function Summary({ language }: { language: Language }) {
  const { lengths } = language;
  const facts: Fact[] = [
    [
      counted(language.rules, "rule"),
      language.layers
        .map((layer) => Object.values(layer.rules).reduce((a, b) => a + b, 0))
        .map(count)
        .join(" + "),
    ],
    [`${lengths[0]?.length ?? 0} to ${lengths.at(-1)?.length ?? 0} tokens`, `${number(language.mean_length)} on average`],
    [
      `${count(language.sizes[0])} ${language.sizes[0] === 1 ? "class" : "classes"}`,
      `${language.sizes.at(-1)} tokens, depth ${language.depth}`,
    ],
    ambiguity(language),
  ];
  return <Facts facts={facts} />;
}

/** The class entropy; there is none of languages whose sentences take too long to parse. */
function ambiguity({ entropy, sizes }: Language): Fact {
  if (entropy === null) return ["–", "class entropy: sentences are too long"];
  const guessing = Math.log(sizes[0] ?? 1);
  const share = guessing > 0 ? `, ${percent(entropy.mean / guessing)} of guessing` : "";
  return [
    `${number(entropy.mean)} nats`,
    `class entropy${entropy.stderr === null ? "" : ` ± ${number(entropy.stderr, 2)}`}${share}`,
  ];
}

function Sentences({ state, language }: { state: State; language: Language | null }) {
  const page = (first: number) => update({ first: Math.max(0, first) });
  return (
    <section class="figure" aria-label="Sample sentences">
      <div class="figure-head">
        <h3>Sentences</h3>
        <span class="row tight">
          <button
            type="button"
            class="quiet"
            onClick={() => page(state.first - SENTENCES)}
            disabled={state.first === 0}
            aria-label="Previous sentences"
          >
            ‹
          </button>
          <button type="button" class="quiet" onClick={() => page(state.first + SENTENCES)} aria-label="More sentences">
            ›
          </button>
        </span>
      </div>
      <ul class="sentences scroll">
        {language?.sentences.map((sentence) => (
          <li key={sentence.number}>
            <button
              type="button"
              onClick={() => update({ view: "reading", tokens: [], sample: sentence.number, step: 0 })}
              title="Read this sentence"
            >
              <span class="class">{language.names[0]?.[sentence.root]}</span>
              <span class="tokens">{sentence.tokens.map((token) => language.names[language.depth]?.[token]).join(" ")}</span>
            </button>
          </li>
        ))}
      </ul>
      <p class="hint">Click one to read it.</p>
    </section>
  );
}
