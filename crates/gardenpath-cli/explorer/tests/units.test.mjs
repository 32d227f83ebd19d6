// The arithmetic of the page: numbers in words, ticks, the collapse of curves, and the state in the URL.

import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { explorer } from "./browser.mjs";

const modules = {};

before(async () => {
  const { build } = await import("esbuild");
  const target = mkdtempSync(join(tmpdir(), "units-"));
  const names = ["format", "collapse", "state", "draw/scale", "parts/controls"];
  await build({
    entryPoints: names.map((name) => join(explorer, "src", `${name}${name === "parts/controls" ? ".tsx" : ".ts"}`)),
    outdir: target,
    outbase: join(explorer, "src"),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
  });
  // The state listens to the page that it is on.
  Object.assign(globalThis, { location: { hash: "" }, addEventListener: () => undefined });
  for (const name of names) modules[name] = await import(pathToFileURL(join(target, `${name}.mjs`)).href);
});

test("numbers are short and readable", () => {
  const { number, percent, compact, count, counted, duration } = modules.format;
  assert.deepEqual(
    [0, 0.25, 1234.5, -2.5, 1e-9, null, NaN].map((value) => number(value)),
    ["0", "0.250", "1,235", "−2.50", "1.00 × 10⁻⁹", "–", "–"],
  );
  assert.deepEqual([0, 1e-9, 0.123, 0.9999999, 1].map(percent), ["0%", "< 0.01%", "12.3%", "> 99.99%", "100%"]);
  assert.deepEqual([5000, 20_000, 2e6, 0.05].map(compact), ["5000", "20k", "2M", "0.05"]);
  assert.deepEqual(
    [count(1234567), counted(1, "rule"), counted(2, "rule"), duration(75)],
    ["1,234,567", "1 rule", "2 rules", "1 min 15 s"],
  );
});

test("numbers are read as people write them", () => {
  const { readNumber } = modules["parts/controls"];
  assert.deepEqual(["0.25", "1/16", "2^14", "1e5", " 7 "].map(readNumber), [0.25, 0.0625, 16384, 1e5, 7]);
  for (const bad of ["", "x", "1/", "1//2"]) assert.ok(Number.isNaN(readNumber(bad)), bad);
});

test("ticks lie within the scale, in order, and as many as there is room for", () => {
  const { scale } = modules["draw/scale"];
  for (const [low, high] of [
    [0, 1],
    [-3, 17],
    [0.001, 0.0013],
    [1, 1e6],
    [20, 90],
    [5, 5],
  ]) {
    for (const kind of ["linear", "log"]) {
      if (kind === "log" && low <= 0) continue;
      const axis = scale(kind, [low, high]);
      assert.ok(axis.low <= low && axis.high >= high);
      const ticks = axis.ticks(6);
      const labelled = ticks.filter((tick) => tick.label !== "");
      assert.ok(labelled.length >= 1 && labelled.length <= 13, `${kind} ${low} ${high}: ${labelled.length}`);
      for (const { value } of ticks) assert.ok(axis.place(value) > -1e-6 && axis.place(value) < 1 + 1e-6);
      assert.deepEqual(
        ticks,
        [...ticks].sort((a, b) => a.value - b.value),
      );
      assert.equal(new Set(labelled.map((tick) => tick.label)).size, labelled.length);
    }
  }
  assert.ok(Number.isNaN(scale("log", [1, 10]).place(-1)));
});

test("curves of a power law collapse at its exponent", () => {
  const { crossing, spread } = modules.collapse;
  const curves = [4, 8, 16, 32].map((by) => ({
    by,
    label: "",
    points: Array.from({ length: 30 }, (_, k) => by ** 2.3 * 1.4 ** (k - 12)).map((x) => ({
      x,
      y: 1 / (1 + x / by ** 2.3),
      stderr: null,
      seeds: 1,
    })),
  }));
  assert.ok(Math.abs(crossing(curves[0], 0.5) / 4 ** 2.3 - 1) < 0.01);
  assert.ok(Math.abs(spread(curves, 0.5, 2.3) - 1) < 1e-6);
  assert.ok(spread(curves, 0.5, 2) > 1.1 && spread(curves, 0.5, 0) > 3);
  assert.equal(crossing(curves[0], 2), null);
  assert.equal(spread(curves.slice(0, 1), 0.5, 2), null);
});

test("the URL holds the state, and nonsense in it is ignored", () => {
  const { parseState, printState } = modules.state;
  const initial = parseState("");
  const changed = {
    ...initial,
    view: "reading",
    vocab: 16,
    arities: "2:0.5,4:0.5",
    tokens: [3, 0, 12],
    step: 2,
    exponent: 2.25,
    hidden: ["vocab = 8", "a&b=c#d"],
    file: "a-_9",
  };
  assert.deepEqual(parseState(printState(changed)), changed);
  assert.deepEqual(parseState("#view=nothing&vocab=-3&tokens=1.x&step=1e99&exponent=&fraction=7"), initial);
  assert.match(printState(initial), /^#view=language&vocab=8&depth=3&fraction=0.25&arities=2:0.5,3:0.5&seed=7$/);
});
