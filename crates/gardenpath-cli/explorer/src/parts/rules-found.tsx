// How many rules of each level were found: correct, missing, and wrong ones.

import type { Language, RulesFound } from "../api.ts";
import { count, percent } from "../format.ts";
import type { Job } from "../job.ts";

export function RulesFoundTable({ job, language }: { job: Job | null; language: Language | null }) {
  const shown: RulesFound["levels"] = job?.rules?.levels ?? job?.floors?.truth_rules ?? [];
  const measured = job?.rules != null;
  const working = job?.end === null ? job.news?.levels[0] : undefined;
  return (
    <section class="figure" aria-label="Rules found">
      <div class="figure-head">
        <h3>Rules found</h3>
        <span class="note">
          {job?.rules == null ? "" : `from ${count(job.rules.samples)} sentences`}
          {working === undefined
            ? ""
            : `; at work from ${count(job?.news?.samples)}: ${count(working.learned)} of ${count(working.truth)} at level ${working.level}`}
        </span>
      </div>
      <table class="found">
        <thead>
          <tr>
            <th scope="col">level</th>
            <th scope="col">children</th>
            <th scope="col">rules</th>
            <th scope="col">correct</th>
            <th scope="col">wrong</th>
            <th scope="col" class="stretch">
              share
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => {
            const recall = one.truth > 0 ? (one.correct ?? 0) / one.truth : 1;
            return (
              <tr key={`${one.level} ${one.arity}`}>
                <th scope="row">{one.level}</th>
                <td>{one.arity}</td>
                <td>{count(one.truth)}</td>
                <td>{measured ? count(one.correct) : "–"}</td>
                <td>{measured ? count(one.learned - (one.correct ?? 0)) : "–"}</td>
                <td class="stretch">
                  <meter min={0} max={1} value={measured ? recall : 0} aria-label={`Level ${one.level}, ${one.arity} children`} />
                  <span class="value">{measured ? percent(recall) : ""}</span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {language === null ? null : <p class="hint">Level 0 holds the classes; rules of the last level write tokens.</p>}
    </section>
  );
}
