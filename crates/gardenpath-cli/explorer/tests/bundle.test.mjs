// The committed bundle: small, and built from the committed sources.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { explorer } from "./browser.mjs";

const dist = join(explorer, "dist");

test("the bundle is what the sources build, byte for byte", () => {
  const anew = mkdtempSync(join(tmpdir(), "bundle-"));
  execFileSync(process.execPath, [join(explorer, "build.mjs"), anew], { stdio: "pipe" });
  assert.deepEqual(readdirSync(dist).sort(), readdirSync(anew).sort());
  for (const file of readdirSync(anew))
    assert.ok(readFileSync(join(dist, file)).equals(readFileSync(join(anew, file))), `${file} is stale: npm run build`);
});

test("the bundle has less than 300 KB", () => {
  const size = readdirSync(dist).reduce((sum, file) => sum + statSync(join(dist, file)).size, 0);
  assert.ok(size < 300_000, `${size} bytes`);
});

test("the lock file names no registry", () => {
  assert.doesNotMatch(readFileSync(join(explorer, "package-lock.json"), "utf8"), /"resolved"|https?:\/\/[^"]*\.tgz/);
});

test("the page has neither inline scripts nor inline styles", () => {
  const html = readFileSync(join(dist, "index.html"), "utf8");
  assert.doesNotMatch(html, /<style|style=|<script>|onload=|onclick=/);
});
