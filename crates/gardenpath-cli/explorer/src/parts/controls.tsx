// The controls of forms: a label, the thing itself, and where it helps the value in words.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

interface SliderProps {
  label: string;
  value: number;
  low: number;
  high: number;
  step?: number;
  /** Whether equal distances are equal ratios. */
  log?: boolean;
  /** Whole numbers only. */
  whole?: boolean;
  /** What an arrow key makes of the value; otherwise it moves the slider a little. */
  next?: (value: number, up: boolean) => number;
  disabled?: boolean;
  hint?: ComponentChildren;
  onChange: (value: number) => void;
}

/** A slider with a field for the exact number. The field may leave the range of the slider. */
export function Slider({
  label,
  value,
  low,
  high,
  step = 1,
  log = false,
  whole = false,
  next,
  disabled = false,
  hint,
  onChange,
}: SliderProps) {
  const forth = (number: number) => (log ? Math.log(number) : number);
  const back = (place: number) => {
    const number = log ? Math.exp(place) : place;
    return whole ? Math.round(number) : Number(number.toPrecision(3));
  };
  const press = (event: KeyboardEvent) => {
    const up = { ArrowRight: true, ArrowUp: true, ArrowLeft: false, ArrowDown: false }[event.key];
    if (up === undefined || next === undefined) return;
    event.preventDefault();
    onChange(Math.min(Math.max(next(value, up), low), high));
  };
  const ticks = log ? (Math.log(high) - Math.log(low)) / 200 : step;
  return (
    <div class="control">
      <label>
        <span>{label}</span>
        <input
          type="range"
          min={forth(low)}
          max={forth(high)}
          step={ticks}
          value={Math.min(Math.max(forth(value), forth(low)), forth(high))}
          disabled={disabled}
          aria-valuetext={String(value)}
          onInput={(event) => onChange(back(Number(event.currentTarget.value)))}
          onKeyDown={press}
        />
      </label>
      <NumberField label={`${label}, exact value`} value={value} whole={whole} disabled={disabled} onChange={onChange} />
      {hint === undefined ? null : <span class="hint">{hint}</span>}
    </div>
  );
}

/** Arrow keys of a slider count, or double. */
export const counting = (value: number, up: boolean) => value + (up ? 1 : -1);
export const doubling = (value: number, up: boolean) => Math.round(up ? value * 2 : value / 2);

interface NumberFieldProps {
  label: string;
  value: number;
  whole?: boolean;
  disabled?: boolean;
  onChange: (value: number) => void;
}

/** A field for a number, which is taken when it is complete: at Enter, or when the field is left. Powers such as 2^14 and 1e5 are read. */
export function NumberField({ label, value, whole = false, disabled = false, onChange }: NumberFieldProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const [bad, setBad] = useState(false);
  useEffect(() => setBad(false), [value]);
  const commit = () => {
    if (draft === null) return;
    const number = readNumber(draft);
    const good = Number.isFinite(number) && (!whole || Number.isSafeInteger(number));
    setBad(!good);
    if (!good) return;
    setDraft(null);
    if (number !== value) onChange(number);
  };
  return (
    <input
      class="number"
      type="text"
      inputMode={whole ? "numeric" : "decimal"}
      aria-label={label}
      aria-invalid={bad}
      value={draft ?? String(value)}
      disabled={disabled}
      onInput={(event) => setDraft(event.currentTarget.value)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === "Enter") commit();
        if (event.key === "Escape") {
          setDraft(null);
          setBad(false);
        }
      }}
    />
  );
}

/** A number as people write it: 0.25, 1/16, 2^14, 1e5. NaN for anything else. */
export function readNumber(text: string): number {
  const operation = /^\s*([\d.]+)\s*([/^])\s*([\d.]+)\s*$/.exec(text);
  if (operation === null) return text.trim() === "" ? NaN : Number(text);
  const [first, second] = [Number(operation[1]), Number(operation[3])];
  return operation[2] === "/" ? first / second : first ** second;
}

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: readonly { value: T; label: string; disabled?: boolean; title?: string }[];
  onChange: (value: T) => void;
}

/** A few choices side by side: radio buttons that look like one control. */
export function Choice<T extends string>({ label, value, options, onChange }: ChoiceProps<T>) {
  return (
    <fieldset class="choice">
      <legend>{label}</legend>
      <div>
        {options.map((option) => (
          <label key={option.value} title={option.title} class={option.disabled ? "disabled" : undefined}>
            <input
              type="radio"
              name={label}
              checked={option.value === value}
              disabled={option.disabled}
              onChange={() => onChange(option.value)}
            />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface SelectProps<T extends string> {
  label: string;
  value: T;
  options: readonly { value: T; label: string }[];
  onChange: (value: T) => void;
}

export function Select<T extends string>({ label, value, options, onChange }: SelectProps<T>) {
  return (
    <label class="select">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
}
