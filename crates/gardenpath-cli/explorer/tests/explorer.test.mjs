// The explorer in a real browser, with the real program.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fragment, launch, missing, open, serve, store } from "./browser.mjs";

const SMALL = "#view=reading&vocab=6&depth=2&fraction=0.5&seed=3";

describe("explorer", { skip: missing }, () => {
  let server;
  let chrome;
  before(async () => {
    [server, chrome] = await Promise.all([serve("--store", store), launch()]);
  });
  after(async () => {
    await chrome?.close();
    await server?.stop();
  });

  /** Opens a page, does something with it, and wants no complaints on its console. */
  const visit = (name, at, act, options) =>
    test(name, { timeout: 60_000 }, async () => {
      const visitor = await open(chrome, server, at, options);
      try {
        await act(visitor.page, visitor);
        assert.deepEqual(visitor.complaints, []);
      } finally {
        await visitor.close();
      }
    });

  const facts = (page) => page.locator(".summary .facts");

  test("the first paint comes within 300 ms, and nothing jumps", async () => {
    const context = await chrome.newContext({ viewport: { width: 1280, height: 900 } });
    await context.addInitScript(() => {
      window.shifts = [];
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts.push(entry.value);
      }).observe({ type: "layout-shift", buffered: true });
    });
    const page = await context.newPage();
    await page.goto(server.url);
    const paints = [];
    for (let k = 0; k < 3; k++) {
      await page.reload();
      await facts(page).waitFor();
      paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
    }
    await page.waitForTimeout(1500);
    const shifts = await page.evaluate(() => window.shifts.reduce((a, b) => a + b, 0));
    assert.ok(Math.min(...paints) < 300, `first paint after ${paints.map(Math.round)} ms`);
    assert.ok(shifts < 0.02, `layout shift ${shifts}`);
    await context.close();
  });

  for (const [theme, width] of [
    ["light", 1280],
    ["dark", 1280],
    ["light", 360],
    ["dark", 390],
  ]) {
    visit(
      `every view fits, ${theme}, ${width} pixels`,
      "",
      async (page) => {
        for (const view of ["Language", "Reading", "Learning", "Results"]) {
          await page.getByRole("tab", { name: view }).click();
          await page.locator("#view .figure, #view .message").first().waitFor();
          await page.waitForTimeout(300);
          const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(beyond <= 0, `${view} is ${beyond} pixels too wide`);
        }
        const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        assert.equal(paper, theme === "dark" ? "rgb(20, 24, 29)" : "rgb(255, 255, 255)");
      },
      { viewport: { width, height: 800 }, colorScheme: theme },
    );
  }

  visit("the theme button overrides the system, and is remembered", "", async (page) => {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.getByRole("button", { name: "Use the dark theme" }).click();
    assert.equal(await paper(), "rgb(20, 24, 29)");
    await page.reload();
    await page.getByRole("button", { name: "Use the light theme" }).waitFor();
    assert.equal(await paper(), "rgb(20, 24, 29)");
  });

  visit("controls change the language while they move", "#view=language&vocab=8&depth=2&fraction=0.25&seed=1", async (page) => {
    await page.getByText("4 to 9 tokens").waitFor();
    await page.getByRole("slider", { name: "Depth L" }).press("ArrowRight");
    await page.getByText("8 to 27 tokens").waitFor();
    await page.locator("figure", { hasText: "Class entropy" }).getByText("measured").waitFor();
    await page.getByRole("textbox", { name: "Seed" }).fill("12");
    await page.getByRole("textbox", { name: "Seed" }).press("Enter");
    await page.getByRole("radio", { name: "2", exact: true }).check({ force: true });
    await page.getByText("8 to 8 tokens").waitFor();
    const state = await fragment(page);
    assert.deepEqual([state.get("depth"), state.get("seed"), state.get("arities")], ["3", "12", "2:1"]);
  });

  visit(
    "what the server refuses is shown in one line",
    "#view=language&vocab=8&depth=2&fraction=0.25&seed=1",
    async (page, visitor) => {
      await facts(page).waitFor();
      const field = page.getByRole("textbox", { name: "Fraction f, exact value" });
      await field.fill("7");
      await field.press("Enter");
      const alert = page.locator(".summary [role=alert]");
      await alert.waitFor();
      assert.ok(!(await alert.innerText()).includes("\n"));
      await field.fill("1/4");
      await field.press("Enter");
      await facts(page).waitFor();
      assert.equal((await fragment(page)).get("fraction"), "0.25");
      // Browsers note every refusal.
      const refusals = visitor.complaints.splice(0);
      assert.ok(
        refusals.length > 0 && refusals.every((line) => line.includes("the server responded with a status of 4")),
        String(refusals),
      );
    },
  );

  visit("a grammar is saved, and loaded again", "#view=language&vocab=4&depth=2&fraction=0.5&seed=5", async (page) => {
    await facts(page).waitFor();
    const before = await page.locator(".sentences").innerText();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save .pcfg" }).click(),
    ]);
    const path = await download.path();
    assert.match(readFileSync(path, "utf8"), /->/);
    await page.getByLabel("Grammar file").setInputFiles({ name: "g.pcfg", mimeType: "text/plain", buffer: readFileSync(path) });
    await page.getByText("loaded file").waitFor();
    await page.waitForTimeout(300);
    assert.equal(await page.locator(".sentences").innerText(), before);
    // The URL alone holds the grammar.
    assert.equal((await fragment(page)).get("source"), "file");
    await page.reload();
    await facts(page).waitFor();
    assert.equal(await page.locator(".sentences").innerText(), before);
  });

  visit("a sentence of the list is read", "#view=language&vocab=6&depth=2&fraction=0.5&seed=3", async (page) => {
    const third = page.locator(".sentences button").nth(2);
    const tokens = await third.locator(".tokens").innerText();
    await third.click();
    await page.getByRole("textbox", { name: "Sentence" }).waitFor();
    await page.waitForFunction((wanted) => document.querySelector(".typed input").value === wanted, tokens);
    await facts(page).waitFor();
    await page.getByText("written").first().waitFor();
  });

  visit("a sentence is typed, stepped through and edited", SMALL, async (page) => {
    await facts(page).waitFor();
    const field = page.getByRole("textbox", { name: "Sentence" });
    const original = await field.inputValue();
    await field.fill("0 1 blah");
    await field.press("Enter");
    await page.getByText("“blah” is not a token").waitFor();
    await field.fill(original);
    await page.getByRole("button", { name: "Read", exact: true }).click();
    await page.getByRole("button", { name: "Step forward" }).click();
    const length = original.split(" ").length;
    await page.getByText(/^Came: /).waitFor();
    // Stepping to the end by keyboard, on the tokens themselves.
    await page.locator(".chip").first().focus();
    await page.keyboard.press("Home");
    await page.getByText("before the first token").waitFor();
    for (let k = 0; k < length; k++) await page.keyboard.press("ArrowRight");
    await page.getByText(`after token ${length} of ${length}`).waitFor();
    await page.keyboard.press("ArrowRight");
    await page.getByText("The sentence has ended.").waitFor();
    assert.equal((await fragment(page)).get("step"), String(length + 1));
    // One token is changed, one removed.
    await page.locator(".chip").nth(1).click();
    await page.keyboard.press("ArrowUp");
    await page.waitForFunction((before) => document.querySelector(".typed input").value !== before, original);
    const changed = (await field.inputValue()).split(" ");
    const first = original.split(" ");
    assert.equal(changed.filter((token, k) => token !== first[k]).length, 1);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.waitForFunction((wanted) => document.querySelector(".typed input").value.split(" ").length === wanted, length - 1);
    await page.getByRole("button", { name: "Insert after" }).click();
    await page.waitForFunction((wanted) => document.querySelector(".typed input").value.split(" ").length === wanted, length);
  });

  visit("an impossible sentence is called impossible", SMALL, async (page) => {
    await facts(page).waitFor();
    const field = page.getByRole("textbox", { name: "Sentence" });
    await field.fill("0");
    await field.press("Enter");
    await page.getByText(/^No sentence of this language/).waitFor();
  });

  visit(
    "an ambiguous sentence is found, and its trees are drawn and saved",
    SMALL,
    async (page) => {
      await facts(page).waitFor();
      await page.getByRole("button", { name: "Find an ambiguous sentence" }).click();
      await page.waitForFunction(() => /^([2-9]|\d\d+) trees/.test(document.querySelector(".summary dt")?.textContent ?? ""));
      assert.ok((await page.locator(".trees svg").count()) >= 2);
      await page.locator("figure", { hasText: "spurious" }).locator("svg").waitFor();
      const saves = page.getByRole("button", { name: /^Save .* as SVG$/ });
      for (let k = 0; k < (await saves.count()); k++) {
        if (!(await saves.nth(k).isVisible())) continue;
        const [download] = await Promise.all([page.waitForEvent("download"), saves.nth(k).click()]);
        const text = readFileSync(await download.path(), "utf8");
        assert.match(text, /^<svg [^]*<\/svg>\n$/);
        assert.doesNotMatch(text, /var\(|light-dark\(|class=|data-transient/);
        const bad = await page.evaluate(
          (svg) => new DOMParser().parseFromString(svg, "image/svg+xml").querySelector("parsererror")?.textContent ?? null,
          text,
        );
        assert.equal(bad, null);
      }
    },
    { colorScheme: "dark" },
  );

  visit("a learner finds every rule", "#view=learning&vocab=4&depth=2&fraction=0.5&seed=1&samples=4096", async (page) => {
    await page.getByRole("button", { name: "Start" }).click();
    await page.locator(".facts dt", { hasText: "done" }).waitFor();
    await page.locator("table.found tbody tr").first().waitFor();
    await page.locator("figure", { hasText: "Loss" }).first().getByText("best possible").waitFor();
    assert.ok((await page.locator("figure", { hasText: "Loss" }).first().locator("svg path[transform]").count()) >= 3);
  });

  visit(
    "a network is trained, and stopped",
    "#view=learning&worker=transformer&task=next&vocab=6&depth=2&fraction=0.25&seed=1&samples=65536&width=32&steps=100000",
    async (page) => {
      const id = await start(page);
      await page.locator("figure", { hasText: "Loss" }).first().getByText("knows no rules").waitFor();
      await page.waitForFunction(() => document.querySelectorAll(".pair figure:first-child svg path[transform]").length >= 3);
      await page.getByRole("button", { name: "Stop" }).click();
      await page.locator(".facts dt", { hasText: "stopped" }).waitFor();
      assert.match(await events(page, id), /"how":"stopped"/);
    },
  );

  visit(
    "a reload goes on listening",
    "#view=learning&worker=cnn&vocab=8&depth=2&fraction=0.25&seed=1&samples=262144&width=64&steps=100000",
    async (page) => {
      await start(page);
      const points = () =>
        page.waitForFunction(() => document.querySelectorAll(".pair figure:first-child svg path[transform]").length >= 3);
      await points();
      await page.reload();
      await points();
      await page.getByRole("button", { name: "Stop" }).click();
      await page.locator(".facts dt", { hasText: "stopped" }).waitFor();
    },
  );

  test("closing the page stops the work", { timeout: 90_000 }, async () => {
    const visitor = await open(
      chrome,
      server,
      "#view=learning&worker=cnn&vocab=8&depth=2&fraction=0.25&seed=1&samples=262144&width=64&steps=100000",
    );
    const other = await visitor.context.newPage();
    await other.goto(server.url);
    const id = await start(visitor.page);
    await visitor.page.waitForFunction(
      () => document.querySelectorAll(".pair figure:first-child svg path[transform]").length >= 3,
    );
    await visitor.page.close();
    // The server waits for five seconds, since the page may be loaded again. On a busy machine, the browser takes a while to close the
    // connection; and asking too early counts as listening, so the next question waits as long.
    let answer = null;
    for (let attempt = 0; answer === null && attempt < 3; attempt++) {
      await other.waitForTimeout(12_000);
      answer = await events(other, id).catch((error) => (/TimeoutError/.test(error.message) ? null : Promise.reject(error)));
    }
    assert.match(answer ?? "still at work", /"how":"stopped"|^404$/);
    await visitor.close();
  });

  visit(
    "the exponent collapses the curves, and groups are switched off",
    "#view=results&chapter=cnn-ambiguous&scale=day",
    async (page) => {
      const figure = page.locator("figure", { hasText: "Click on the entries" });
      await figure.locator("svg").waitFor();
      const drawn = () => figure.locator("svg").evaluate((svg) => svg.innerHTML);
      const slider = page.getByRole("slider", { name: /^Exponent/ });
      const before = await drawn();
      await slider.focus();
      for (let k = 0; k < 5; k++) await page.keyboard.press("ArrowLeft");
      assert.notEqual(await drawn(), before);
      await page.getByRole("button", { name: "none" }).click();
      assert.equal((await fragment(page)).get("exponent"), "0");
      const spread = async () =>
        Number(/factor of ([\d.]*\d)/.exec(await page.locator(".exponent .hint").last().innerText())?.[1]);
      const apart = await spread();
      await page
        .getByRole("button", { name: /^(measured|predicted)/ })
        .first()
        .click();
      await page.waitForTimeout(100);
      assert.ok((await spread()) < apart, "the curves come closer");
      const entries = figure.getByRole("checkbox");
      assert.equal(await entries.first().getAttribute("aria-checked"), "true");
      const hidden = figure.getByRole("checkbox", { checked: false });
      await entries.first().press(" ");
      await hidden.waitFor();
      await fragment(page);
      await page.reload();
      await hidden.waitFor();
      assert.equal(await entries.first().getAttribute("aria-checked"), "false");
      // Numbers appear at the point that the mouse or the keyboard is at.
      await figure.locator("svg").focus();
      await page.keyboard.press("ArrowRight");
      await figure.locator("[data-transient] text").first().waitFor();
      // A claim about several groups opens.
      await page.locator(".claims td .badge").first().waitFor();
      await page.locator(".claims summary").first().click();
      await page.locator(".claims li .badge").first().waitFor();
      await page.getByRole("columnheader", { name: "P*" }).waitFor();
    },
  );

  visit("the URL shows the same to somebody else", `${SMALL}&sample=4&step=2`, async (page) => {
    await facts(page).waitFor();
    await page.getByRole("button", { name: "Find an ambiguous sentence" }).click();
    await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).has("tokens"));
    await page.getByRole("button", { name: "Step forward" }).click();
    await fragment(page);
    const shown = () => page.locator("#view").innerText();
    await page.waitForTimeout(300);
    const mine = await shown();
    const stranger = await open(chrome, server, new URL(page.url()).hash);
    await stranger.page.locator(".trees svg").first().waitFor();
    await stranger.page.waitForTimeout(300);
    assert.equal(await stranger.page.locator("#view").innerText(), mine);
    await stranger.close();
    // Back and forth between views.
    await page.getByRole("tab", { name: "Language" }).click();
    await page.goBack();
    await page.locator(".trees svg").first().waitFor();
    assert.equal(await shown(), mine);
  });

  visit("two tabs do not disturb each other", "#view=language&vocab=4&depth=2&fraction=0.5&seed=1", async (page, { context }) => {
    const other = await context.newPage();
    await other.goto(`${server.url}#view=reading&vocab=8&depth=3&fraction=0.25&seed=2`);
    await facts(other).waitFor();
    await facts(page).waitFor();
    const before = await page.locator(".sentences").innerText();
    await other.getByRole("button", { name: "Sample a sentence" }).click();
    await other.waitForTimeout(400);
    assert.equal(await page.locator(".sentences").innerText(), before);
    await page.reload();
    await facts(page).waitFor();
    assert.equal((await fragment(page)).get("vocab"), "4");
    assert.equal((await fragment(other)).get("vocab"), "8");
  });

  visit("everything can be reached with the keyboard", "#view=language&vocab=4&depth=2&fraction=0.5&seed=1", async (page) => {
    await facts(page).waitFor();
    await page.keyboard.press("Tab");
    const focused = () =>
      page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent);
    assert.equal(await focused(), "Language");
    await page.keyboard.press("ArrowRight");
    assert.equal(await focused(), "Reading");
    await page.getByRole("button", { name: "Find an ambiguous sentence" }).waitFor();
    const seen = new Set();
    for (let k = 0; k < 60; k++) {
      await page.keyboard.press("Tab");
      seen.add(await focused());
    }
    for (const name of ["Sample a sentence", "Find an ambiguous sentence", "Read", "Step forward", "Play"])
      assert.ok(seen.has(name), `${name} is reached`);
  });

  test("every control, tab and picture has a name", async () => {
    const visitor = await open(chrome, server, SMALL);
    for (const view of ["Language", "Reading", "Learning", "Results"]) {
      await visitor.page.getByRole("tab", { name: view }).click();
      await visitor.page.waitForTimeout(500);
      const nameless = await visitor.page.evaluate(() =>
        [...document.querySelectorAll("button, input, select, svg, img, [role]")]
          .filter((element) => !element.closest("[data-transient]"))
          .filter((element) => !["status", "alert"].includes(element.getAttribute("role")))
          .filter(
            (element) =>
              !(
                element.getAttribute("aria-label") ||
                element.getAttribute("aria-labelledby") ||
                element.textContent.trim() ||
                element.labels?.length ||
                element.getAttribute("alt")
              ),
          )
          .map((element) => element.outerHTML.slice(0, 80)),
      );
      assert.deepEqual(nameless, [], view);
    }
    await visitor.close();
  });

  test("the page says when the server is gone, and goes on when it is back", { timeout: 60_000 }, async () => {
    const first = await serve();
    const { page, context, close } = await open(chrome, first, SMALL);
    await facts(page).waitFor();
    await first.stop();
    await page.getByRole("button", { name: "Sample a sentence" }).click();
    await page.getByText("The server does not answer.").waitFor();
    const second = await serve("--port", first.port);
    await page.getByText("The server was started again").waitFor();
    const visitor = await context.newPage();
    await visitor.goto(second.url);
    await page.getByText("The server was started again").waitFor({ state: "detached" });
    await page.waitForFunction(() => document.querySelector(".connection").textContent === "");
    await facts(page).waitFor();
    assert.equal((await fragment(page)).get("sample"), "1");
    await close();
    await second.stop();
  });
});

/** Starts the work of the learning view; its number. */
async function start(page) {
  const button = page.getByRole("button", { name: "Start" });
  const [answer] = await Promise.all([page.waitForResponse((response) => response.url().endsWith("/api/jobs")), button.click()]);
  return (await answer.json()).id;
}

/** All events of a job that has ended, or the status if the server has forgotten it. */
function events(page, id) {
  return page.evaluate(async (path) => {
    const answer = await fetch(path, { signal: AbortSignal.timeout(5000) });
    return answer.ok ? answer.text() : String(answer.status);
  }, `/api/jobs/${id}/events`);
}
