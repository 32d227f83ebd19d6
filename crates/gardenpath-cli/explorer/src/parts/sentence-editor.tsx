// The sentence, typed as a whole or changed token by token. The arrow keys step through it and change the token that was read last.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Language } from "../api.ts";
import { type State, update } from "../state.ts";
import type { Span } from "../views/reading.tsx";

interface SentenceEditorProps {
  state: State;
  language: Language | null;
  tokens: readonly number[];
  span: Span | null;
}

export function SentenceEditor({ state, language, tokens, span }: SentenceEditorProps) {
  const names = language?.names[language.depth] ?? [];
  return (
    <>
      <Typed step={state.step} names={names} tokens={tokens} />
      <Chips state={state} names={names} tokens={tokens} span={span} />
    </>
  );
}

/** The whole sentence in a text field. */
function Typed({ step, names, tokens }: { step: number; names: readonly string[]; tokens: readonly number[] }) {
  const written = tokens.map((token) => names[token] ?? token).join(" ");
  const [draft, setDraft] = useState<string | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    setDraft(null);
    setProblem("");
  }, [written]);
  const commit = () => {
    if (draft === null) return;
    const words = draft.split(/[\s,[\]]+/).filter((word) => word !== "");
    const symbols = words.map((word) => names.indexOf(word));
    const unknown = words[symbols.indexOf(-1)];
    if (words.length === 0) return setProblem("Type some tokens.");
    if (unknown !== undefined) return setProblem(`“${unknown}” is not a token: they are ${few(names)}.`);
    setProblem("");
    setDraft(null);
    update({ tokens: symbols, step: Math.min(step, symbols.length) });
  };
  return (
    <form
      class="typed"
      onSubmit={(event) => {
        event.preventDefault();
        commit();
      }}
    >
      <label>
        <span>Sentence</span>
        <input
          type="text"
          spellcheck={false}
          autocomplete="off"
          value={draft ?? written}
          aria-invalid={problem !== ""}
          aria-describedby="typed-problem"
          onInput={(event) => setDraft(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Read</button>
      <span id="typed-problem" class="hint error" role="status">
        {problem}
      </span>
    </form>
  );
}

function few(names: readonly string[]): string {
  return names.length <= 8 ? names.join(", ") : `${names[0]}, ${names[1]}, …, ${names.at(-1)}`;
}

/** One button for each token; the one that was read last is chosen and can be changed. */
function Chips({
  state,
  names,
  tokens,
  span,
}: {
  state: State;
  names: readonly string[];
  tokens: readonly number[];
  span: Span | null;
}) {
  const row = useRef<HTMLDivElement>(null);
  const chosen = state.step - 1;
  const editable = chosen >= 0 && chosen < tokens.length;
  const replace = (at: number, removed: number, added: readonly number[], step: number) => {
    const changed = [...tokens.slice(0, at), ...added, ...tokens.slice(at + removed)];
    if (changed.length > 0) update({ tokens: changed, step });
  };
  const symbol = (by: number) => ((tokens[chosen] ?? 0) + by + names.length) % names.length;
  const keys: Record<string, () => void> = {
    ArrowLeft: () => update({ step: Math.max(0, state.step - 1) }),
    ArrowRight: () => update({ step: Math.min(tokens.length + 1, state.step + 1) }),
    Home: () => update({ step: 0 }),
    End: () => update({ step: tokens.length + 1 }),
    ArrowUp: () => editable && replace(chosen, 1, [symbol(1)], state.step),
    ArrowDown: () => editable && replace(chosen, 1, [symbol(-1)], state.step),
    Delete: () => editable && replace(chosen, 1, [], Math.max(1, Math.min(state.step, tokens.length - 1))),
    Insert: () => editable && replace(chosen + 1, 0, [tokens[chosen]!], state.step + 1),
  };
  useEffect(() => {
    // The keyboard stays on the token that is read.
    if (row.current?.contains(document.activeElement))
      row.current.querySelector<HTMLElement>("[tabindex='0']")?.focus({ preventScroll: true });
  }, [state.step]);
  const reachable = Math.min(Math.max(chosen, 0), tokens.length - 1);
  return (
    <>
      <div
        class="chips"
        role="group"
        aria-label="Tokens. Left and right step, up and down change the token, Insert and Delete add and remove one."
        ref={row}
        onKeyDown={(event) => {
          const act = keys[event.key];
          if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
          event.preventDefault();
          act();
        }}
      >
        {tokens.map((token, k) => (
          <button
            key={k}
            type="button"
            class={`chip${k < state.step ? " read" : ""}${k === chosen ? " chosen" : ""}${span !== null && k >= span.start && k < span.start + span.span ? " within" : ""}`}
            aria-pressed={k === chosen}
            aria-label={`Token ${k + 1}: ${names[token] ?? token}`}
            tabIndex={k === reachable ? 0 : -1}
            onClick={() => update({ step: k + 1 })}
          >
            {names[token] ?? token}
          </button>
        ))}
        <span
          class={`chip end${state.step > tokens.length ? " chosen" : ""}`}
          onClick={() => update({ step: tokens.length + 1 })}
          aria-hidden="true"
        >
          end
        </span>
      </div>
      <div class="row edit">
        <label class="select">
          <span>{editable ? `Token ${chosen + 1}` : "Token"}</span>
          <select
            disabled={!editable}
            value={String(tokens[chosen] ?? "")}
            onChange={(event) => replace(chosen, 1, [Number(event.currentTarget.value)], state.step)}
          >
            {names.map((name, token) => (
              <option key={token} value={String(token)}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="button" disabled={!editable} onClick={() => keys["Insert"]?.()}>
          Insert after
        </button>
        <button type="button" disabled={!editable || tokens.length < 2} onClick={() => keys["Delete"]?.()}>
          Delete
        </button>
        <span class="hint">Choose a token to change it.</span>
      </div>
    </>
  );
}
