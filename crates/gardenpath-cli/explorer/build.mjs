// Builds dist/ (or the directory that is given) from src/: `npm ci && npm run build`. What is built depends on the sources alone, so two builds are
// byte-identical.
//
// dist/sources.sha256 lets a test in Rust notice a bundle of other sources. It is the SHA-256 of, for each source file in the order of the bytes
// of their paths, path + "\n" + length in bytes + "\n" + contents. Source files are those in `named` below and everything in src/.

import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const LIMIT = 300_000;

const target = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), "dist"));
process.chdir(dirname(fileURLToPath(import.meta.url)));
const named = ["build.mjs", "package-lock.json", "package.json", "tsconfig.json"];

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
await build({
  entryPoints: { app: "src/main.tsx" },
  outdir: target,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
});
await build({
  entryPoints: { app: "src/style.css" },
  outdir: target,
  bundle: true,
  minify: true,
  target: "es2022",
  logLevel: "warning",
});
copyFileSync("src/index.html", join(target, "index.html"));

const total = readdirSync(target).reduce((sum, file) => sum + statSync(join(target, file)).size, 0);
if (total > LIMIT) throw new Error(`the bundle has ${total} bytes, more than ${LIMIT}`);
writeFileSync(join(target, "sources.sha256"), `${fingerprint()}\n`);
console.log(`${total} bytes`);

function fingerprint() {
  const inside = readdirSync("src", { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).replaceAll("\\", "/"));
  const paths = [...named, ...inside].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const hash = createHash("sha256");
  for (const path of paths) {
    const contents = readFileSync(path);
    hash.update(`${path}\n${contents.length}\n`);
    hash.update(contents);
  }
  return hash.digest("hex");
}
