// The rules of one symbol.

import type { GrammarChoice, Language, Rules } from "../api.ts";
import { counted, number, percent } from "../format.ts";
import { useQuery } from "../query.ts";
import { type State, update } from "../state.ts";
import { Message } from "./message.tsx";
import { Select } from "./controls.tsx";

export function RuleList({
  state,
  grammar,
  language,
}: {
  state: State;
  grammar: GrammarChoice | null;
  language: Language | null;
}) {
  const level = Math.min(state.layer, (language?.depth ?? 1) - 1);
  const parent = Math.min(state.parent, (language?.sizes[level] ?? 1) - 1);
  const rules = useQuery<Rules>(language === null ? null : "/api/rules", { grammar, level, parent }, 60);
  const largest = Math.max(1e-300, ...(rules.value?.rules ?? []).map((rule) => rule.probability));
  const layer = language?.layers[level];
  const fractions = language?.effective_fractions?.[level];
  return (
    <section class="figure" aria-label="Rules">
      <div class="figure-head">
        <h3>Rules</h3>
        {language === null ? null : (
          <span class="row tight">
            <Select
              label="level"
              value={String(level)}
              options={language.layers.map((one) => ({ value: String(one.level), label: String(one.level) }))}
              onChange={(value) => update({ layer: Number(value), parent: 0 })}
            />
            <Select
              label="of"
              value={String(parent)}
              options={(language.names[level] ?? []).map((label, symbol) => ({ value: String(symbol), label }))}
              onChange={(value) => update({ parent: Number(value) })}
            />
          </span>
        )}
      </div>
      <ul class="rules scroll" tabIndex={0} aria-label="Rules of the symbol">
        {rules.value === null || language === null ? (
          <Message error={rules.error} />
        ) : (
          rules.value.rules.map((rule, k) => (
            <li key={k}>
              <span class="tokens">
                {language.names[level]?.[rule.parent]} →{" "}
                {rule.children.map((child) => language.names[level + 1]?.[child]).join(" ")}
              </span>
              <span class="value">{number(rule.probability)}</span>
              <span class="bar" style={{ width: `${(100 * rule.probability) / largest}%` }} />
            </li>
          ))
        )}
      </ul>
      <p class="hint">
        {layer === undefined
          ? " "
          : Object.entries(layer.rules)
              .map(
                ([arity, rules]) =>
                  `${counted(rules, "rule")} of ${arity}${fractions?.[arity] === undefined ? "" : ` (${percent(fractions[arity])} of all)`}`,
              )
              .join(", ") + " in this layer."}
      </p>
    </section>
  );
}
