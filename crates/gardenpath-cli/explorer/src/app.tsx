// The frame of the page: title, tabs, whether the server is there, and one of the four views.

import { useEffect } from "preact/hooks";
import type { Language } from "./api.ts";
import { greet, type Server, useServer } from "./client.ts";
import { useGrammar } from "./grammar.ts";
import { Tabs } from "./parts/tabs.tsx";
import { useQuery } from "./query.ts";
import { type State, update, useAppState } from "./state.ts";
import { useTheme } from "./theme.ts";
import { LanguageView } from "./views/language.tsx";
import { LearningView } from "./views/learning.tsx";
import { ReadingView } from "./views/reading.tsx";
import { ResultsView } from "./views/results.tsx";

/** How many sampled sentences are shown at a time. */
export const SENTENCES = 10;

export function App() {
  const state = useAppState();
  const server = useServer();
  const [theme, toggleTheme] = useTheme();
  useEffect(() => {
    const anew = location.hash === "";
    greet().then(
      // Whoever names a grammar wants to see it, unless a link says something else.
      ({ grammar }) => anew && grammar !== null && update({ source: "given" }),
      () => undefined,
    );
  }, []);
  useEffect(() => {
    document.title = `gardenpath: ${state.view}`;
  }, [state.view]);
  return (
    <>
      <header class="top">
        <h1>
          gardenpath <span>explorer</span>
        </h1>
        <Tabs view={state.view} />
        <button
          type="button"
          class="quiet"
          onClick={toggleTheme}
          aria-label={theme === "light" ? "Use the dark theme" : "Use the light theme"}
          title={theme === "light" ? "Dark theme" : "Light theme"}
        >
          {theme === "light" ? "☾" : "☀"}
        </button>
      </header>
      <p class="connection" role="status">
        {server.connection === "gone" ? "The server does not answer. The page goes on as soon as it does." : null}
        {server.connection === "locked"
          ? "The server was started again: open the URL that it printed, and this page goes on."
          : null}
      </p>
      <main>
        <div id="view" role="tabpanel" aria-labelledby={`tab-${state.view}`}>
          <Shown state={state} server={server} />
        </div>
      </main>
    </>
  );
}

/** The chosen view. The language is asked for here, since three views need its names. */
function Shown({ state, server }: { state: State; server: Server }) {
  const grammar = useGrammar(state, server);
  const wanted = state.view !== "results" && grammar !== null;
  const request = { grammar, sentences: SENTENCES, first: state.first, seed: state.sampleSeed };
  const language = useQuery<Language>(wanted ? "/api/language" : null, request, 30);
  switch (state.view) {
    case "language":
      return <LanguageView state={state} server={server} grammar={grammar} language={language} />;
    case "reading":
      return <ReadingView state={state} server={server} grammar={grammar} language={language} />;
    case "learning":
      return <LearningView state={state} server={server} grammar={grammar} language={language} />;
    case "results":
      return <ResultsView state={state} />;
  }
}
