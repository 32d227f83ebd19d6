// Stepping through the sentence: before the first token, after each, after the end.

import { useEffect, useState } from "preact/hooks";
import { update } from "../state.ts";

const PACE = 700;

export function Stepper({ step, length }: { step: number; length: number }) {
  const [playing, setPlaying] = useState(false);
  const last = length + 1;
  useEffect(() => {
    if (!playing) return;
    if (step >= last) return setPlaying(false);
    const timer = setTimeout(() => update({ step: step + 1 }), PACE);
    return () => clearTimeout(timer);
  }, [playing, step, last]);
  const where = step === 0 ? "before the first token" : step > length ? "after the end" : `after token ${step} of ${length}`;
  const play = () => {
    if (!playing && step >= last) update({ step: 0 });
    setPlaying(!playing);
  };
  return (
    <div class="stepper">
      <button type="button" onClick={() => update({ step: Math.max(0, step - 1) })} disabled={step === 0} aria-label="Step back">
        ‹
      </button>
      <button
        type="button"
        onClick={() => update({ step: Math.min(last, step + 1) })}
        disabled={step >= last}
        aria-label="Step forward"
      >
        ›
      </button>
      <button type="button" onClick={play}>
        {playing ? "Pause" : "Play"}
      </button>
      <label>
        <span class="unseen">Position</span>
        <input
          type="range"
          min={0}
          max={last}
          step={1}
          value={Math.min(step, last)}
          aria-valuetext={where}
          onInput={(event) => update({ step: Number(event.currentTarget.value) })}
        />
      </label>
      <span class="hint where">{where}</span>
    </div>
  );
}
