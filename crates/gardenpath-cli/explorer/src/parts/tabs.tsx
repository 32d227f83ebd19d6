// The four views as tabs: the arrow keys, Home and End move between them.

import { useRef } from "preact/hooks";
import { update, type View, VIEWS } from "../state.ts";

const NAMES: Record<View, string> = { language: "Language", reading: "Reading", learning: "Learning", results: "Results" };

export function Tabs({ view }: { view: View }) {
  const row = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const at = VIEWS.indexOf(view);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: VIEWS.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = VIEWS[(to + VIEWS.length) % VIEWS.length]!;
    update({ view: next });
    row.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Views" ref={row} onKeyDown={move}>
      {VIEWS.map((one) => (
        <button
          key={one}
          id={`tab-${one}`}
          type="button"
          role="tab"
          aria-selected={one === view}
          aria-controls="view"
          tabIndex={one === view ? 0 : -1}
          onClick={() => update({ view: one })}
        >
          {NAMES[one]}
        </button>
      ))}
    </div>
  );
}
