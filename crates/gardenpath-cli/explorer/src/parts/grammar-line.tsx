// Which grammar a view is about, in one line, with the way to change it.

import type { Language } from "../api.ts";
import type { Server } from "../client.ts";
import { counted } from "../format.ts";
import { type State, update } from "../state.ts";

export function GrammarLine({ state, server, language }: { state: State; server: Server; language: Language | null }) {
  const what =
    state.source === "given"
      ? (server.start?.grammar?.name ?? "")
      : state.source === "file"
        ? "loaded file"
        : `v = ${state.vocab}, L = ${state.depth}, f = ${state.fraction}, seed ${state.seed}`;
  return (
    <p class="grammar-line">
      <span>
        Grammar: {what}
        {language === null ? null : ` · ${counted(language.rules, "rule")}`}
      </span>{" "}
      <button type="button" class="link" onClick={() => update({ view: "language" })}>
        Change
      </button>
    </p>
  );
}
