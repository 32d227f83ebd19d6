// Numbers as people read them.

/** Three significant digits, without an exponent where that is readable; a dash for what is not a number. */
export function number(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-4 || size >= 1e7) return minus(scientific(value, digits));
  if (size >= 10 ** digits) return minus(Math.round(value).toLocaleString("en-US"));
  const text = value.toPrecision(digits);
  return minus(text.includes("e") ? String(Number(text)) : text);
}

/** A whole number with separators of thousands. */
export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : minus(value.toLocaleString("en-US"));
}

/** A share of one in per cent; tiny shares do not look like none. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return "–";
  const hundredths = share * 100;
  if (hundredths > 0 && hundredths < 0.01) return "< 0.01%";
  if (hundredths < 100 && hundredths > 99.99) return "> 99.99%";
  return `${Number(hundredths.toFixed(hundredths < 1 ? 2 : 1))}%`;
}

/** As short as possible: 1500 is 1.5k. */
export function compact(value: number): string {
  const size = Math.abs(value);
  for (const [unit, letter] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (size >= unit * (unit === 1e3 ? 10 : 1)) return minus(`${Number((value / unit).toPrecision(3))}${letter}`);
  }
  return minus(String(Number(value.toPrecision(3))));
}

/** The number and the thing, which is put into the plural with "s". */
export function counted(value: number, thing: string): string {
  return `${count(value)} ${thing}${value === 1 ? "" : "s"}`;
}

/** A duration of a few seconds or minutes. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

/** A whole number in raised digits. */
export function raised(value: number): string {
  return [...String(value)].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)])).join("");
}

function scientific(value: number, digits: number): string {
  const [factor, power] = value.toExponential(digits - 1).split("e") as [string, string];
  return `${factor} × 10${raised(Number(power))}`;
}

function minus(text: string): string {
  return text.replace(/^-/, "−");
}
