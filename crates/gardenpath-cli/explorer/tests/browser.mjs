// The program and a browser for the tests.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const explorer = dirname(dirname(fileURLToPath(import.meta.url)));
const root = join(explorer, "../../..");
export const store = join(root, "results");

const program = process.env.GARDENPATH ?? join(root, "target/release/gardenpath");
const browser = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  (path) => path && existsSync(path),
);

/** Why the tests cannot run; false if they can. */
export const missing = !browser
  ? "there is no chromium: apt-get install chromium, or name one in CHROMIUM"
  : !existsSync(program)
    ? `there is no ${program}: cargo build --release`
    : false;

/** Starts `gardenpath explore`, and waits for the URL that it prints. */
export async function serve(...options) {
  const child = spawn(program, ["explore", "--no-browser", ...options], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    const listen = (bytes) => {
      said += bytes;
      const found = /http:\/\/127\.0\.0\.1:\d+\/\S*/.exec(said);
      if (found) resolve(found[0]);
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  const stop = () =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.on("exit", resolve);
      child.kill("SIGTERM");
    });
  return { url, port: new URL(url).port, stop };
}

export async function launch() {
  const { chromium } = await import("playwright-core");
  return chromium.launch({
    executablePath: browser,
    args: [
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      ...[
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    ],
    env: { ...process.env, HOME: mkdtempSync(join(tmpdir(), "explorer-")) },
  });
}

/** A page of its own browser profile, which remembers what it complained about. `at` is a fragment. */
export async function open(chrome, server, at = "", options = {}) {
  const context = await chrome.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(server.url + at);
  return { context, page, complaints, close: () => context.close() };
}

/** The state in the URL of a page. */
export async function fragment(page) {
  await page.waitForTimeout(350);
  return new URLSearchParams(new URL(page.url()).hash.slice(1));
}
