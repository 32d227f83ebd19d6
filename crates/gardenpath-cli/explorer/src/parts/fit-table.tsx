// What was fitted to the results: exponents, collapses, ratios, means.

import type { FitResult } from "../api.ts";
import { number } from "../format.ts";
import { notation } from "../notation.ts";
import { interval } from "./claim-table.tsx";

export function FitTable({ fits }: { fits: readonly FitResult[] }) {
  const shown = fits.filter((fit) => fit.kind !== "threshold" && fit.found.length > 0);
  if (shown.length === 0) return null;
  return (
    <details class="fits">
      <summary>All fits</summary>
      <table class="numbers">
        <thead>
          <tr>
            <th scope="col">fit</th>
            <th scope="col">group</th>
            <th scope="col">value</th>
            <th scope="col">95% interval</th>
          </tr>
        </thead>
        <tbody>
          {shown.flatMap((fit) =>
            fit.found.map((found) => (
              <tr key={`${fit.name} ${found.words}`}>
                <th scope="row">
                  {fit.name} <span class="note">{fit.kind}</span>
                </th>
                <td>{notation(found.words) || "all"}</td>
                <td>{number(found.value)}</td>
                <td>{found.interval === null ? (found.because ?? "–") : interval(found.interval)}</td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </details>
  );
}
