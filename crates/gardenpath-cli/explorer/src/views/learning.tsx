// Learning: a learner or a network at work, beside what is the best possible.

import { useState } from "preact/hooks";
import type { JobRequest, Language } from "../api.ts";
import { Figure } from "../draw/figure.tsx";
import { counted, duration, number, percent } from "../format.ts";
import { type Job, startJob, stopJob, useJob } from "../job.ts";
import { Choice, doubling, NumberField, Slider } from "../parts/controls.tsx";
import { type Fact, Facts } from "../parts/facts.tsx";
import { GrammarLine } from "../parts/grammar-line.tsx";
import { Message } from "../parts/message.tsx";
import { RulesFoundTable } from "../parts/rules-found.tsx";
import { Accuracies, Losses } from "../pictures/learning-curves.tsx";
import { type State, update, type Worker } from "../state.ts";
import type { ViewProps } from "./language.tsx";

const HEIGHT = 300;

const NETWORKS: ReadonlySet<Worker> = new Set(["cnn", "inn", "transformer"]);

const SAID: Record<Worker, string> = {
  exact: "Recovers every rule from sentences and classes, one level after the other, and checks itself.",
  unlabelled: "Recovers the rules below the root from sentences alone.",
  paper: "The paper's algorithm: clusters tuples by their correlations with the class.",
  em: "Expectation maximisation from random starts.",
  cnn: "A convolutional network that sees pairs and triples.",
  inn: "An inside network: the recursion of exact parsing with learned weights.",
  transformer: "Attention; for the class, or for the next token.",
};

export function LearningView({ state, server, grammar, language }: ViewProps) {
  const job = useJob();
  const [problem, setProblem] = useState<string | null>(null);
  const [starting, setStarting] = useState(false);
  const running = job !== null && job.end === null;
  const start = async () => {
    if (grammar === null) return;
    setStarting(true);
    setProblem(null);
    try {
      await startJob({ grammar, ...work(state) });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setStarting(false);
  };
  const limits = server.start?.limits;
  return (
    <div class="split">
      <form
        class="panel"
        aria-label="What learns"
        onSubmit={(event) => {
          event.preventDefault();
          if (!running && !starting) void start();
        }}
      >
        <GrammarLine state={state} server={server} language={language.value} />
        <Settings
          state={state}
          sentences={limits?.job_sentences ?? 1 << 20}
          width={limits?.job_width ?? 512}
          steps={limits?.job_steps ?? 100_000}
        />
        <div class="row">
          <button type="submit" class="main" disabled={running || starting || grammar === null}>
            Start
          </button>
          <button type="button" onClick={() => void stopJob()} disabled={!running}>
            Stop
          </button>
        </div>
        <Message error={problem ?? language.error} />
        <p class="hint">Closing the page stops the work.</p>
      </form>
      <Progress job={job} language={language.value} />
    </div>
  );
}

function work(state: State): Pick<JobRequest, "learner" | "network"> {
  const { worker, samples, workSeed: seed, width, steps } = state;
  if (worker === "cnn" || worker === "inn" || worker === "transformer") {
    const task = worker === "transformer" ? state.task : "root";
    return { network: { model: worker, task, samples, width, seed, max_steps: steps } };
  }
  return { learner: { kind: worker, samples, seed } };
}

function Settings({ state, sentences, width, steps }: { state: State; sentences: number; width: number; steps: number }) {
  const choose = (worker: Worker) => update({ worker });
  const network = NETWORKS.has(state.worker);
  return (
    <>
      <Choice
        label="Learner"
        value={network ? ("" as Worker) : state.worker}
        options={[
          { value: "exact", label: "exact" },
          { value: "unlabelled", label: "label-free" },
          { value: "paper", label: "paper" },
          { value: "em", label: "EM" },
        ]}
        onChange={choose}
      />
      <Choice
        label="or network"
        value={network ? state.worker : ("" as Worker)}
        options={[
          { value: "cnn", label: "CNN" },
          { value: "inn", label: "INN" },
          { value: "transformer", label: "transformer" },
        ]}
        onChange={choose}
      />
      <p class="hint fixed">{SAID[state.worker]}</p>
      {state.worker === "transformer" ? (
        <Choice
          label="Predicts"
          value={state.task}
          options={[
            { value: "root" as const, label: "the class" },
            { value: "next" as const, label: "the next token" },
          ]}
          onChange={(task) => update({ task })}
        />
      ) : null}
      <Slider
        label="Sentences P"
        value={state.samples}
        low={64}
        high={Math.min(sentences, 1 << 20)}
        log
        whole
        next={doubling}
        onChange={(samples) => update({ samples })}
      />
      {network ? (
        <>
          <Slider
            label="Width"
            value={state.width}
            low={8}
            high={Math.min(width, 512)}
            step={8}
            whole
            onChange={(value) => update({ width: value })}
          />
          <Slider
            label="Steps, at most"
            value={state.steps}
            low={100}
            high={Math.min(steps, 100_000)}
            log
            whole
            next={doubling}
            onChange={(value) => update({ steps: value })}
          />
        </>
      ) : null}
      <div class="control">
        <label>
          <span>Seed</span>
          <NumberField label="Seed of the work" value={state.workSeed} whole onChange={(workSeed) => update({ workSeed })} />
        </label>
      </div>
    </>
  );
}

function Progress({ job, language }: { job: Job | null; language: Language | null }) {
  const learner = job?.request.learner !== undefined;
  return (
    <div class="content">
      <div class="summary" role="status">
        <Headline job={job} />
      </div>
      <ProgressBar job={job} />
      <div class="pair">
        <Figure
          name="losses"
          title="Loss"
          height={HEIGHT}
          caption={job?.floors ? `In nats per ${job.floors.unit}, on test sentences.` : "\u00a0"}
        >
          {(width) =>
            job === null ? (
              <p class="message">Choose what learns, and start.</p>
            ) : (
              <Losses width={width} height={HEIGHT} job={job} />
            )
          }
        </Figure>
        <Figure name="accuracies" title="Accuracy" height={HEIGHT} caption={"\u00a0"}>
          {(width) =>
            job === null ? null : learner && job.floors?.unit === "token" ? (
              <p class="message">Without classes there is none.</p>
            ) : (
              <Accuracies width={width} height={HEIGHT} job={job} />
            )
          }
        </Figure>
      </div>
      {learner ? <RulesFoundTable job={job} language={language} /> : null}
    </div>
  );
}

function ProgressBar({ job }: { job: Job | null }) {
  const done = job?.end?.how === "done" ? 1 : (job?.progress?.done ?? 0);
  return (
    <div class="progress">
      <progress max={1} value={done} aria-label="Progress" />
      <span class="hint">{job === null ? "\u00a0" : (job.end?.line ?? job.progress?.line ?? "Starting…")}</span>
    </div>
  );
}

function Headline({ job }: { job: Job | null }) {
  const last = job?.points.at(-1);
  const floors = job?.floors ?? null;
  const facts: Fact[] = [
    [number(last?.test_loss), "test loss"],
    [number(floors?.bayes), "best possible loss"],
    [
      percent(last?.test_accuracy),
      floors?.bayes_accuracy == null ? "accuracy" : `accuracy; at best ${percent(floors.bayes_accuracy)}`,
    ],
    job?.end == null
      ? [
          job?.progress == null ? "–" : duration(job.progress.seconds),
          floors?.weights == null ? "time" : `time; ${counted(floors.weights, "weight")}`,
        ]
      : [{ done: "done", stopped: "stopped", failed: "failed" }[job.end.how], `after ${duration(job.end.seconds)}`],
  ];
  return <Facts facts={facts} />;
}
