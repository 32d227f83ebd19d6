// Claims with their verdicts, as in the report.

import type { Claim } from "../api.ts";
import { number } from "../format.ts";

const SIGNS: Record<Claim["verdict"], string> = { agrees: "✓", differs: "✗", corrected: "✎", inconclusive: "?" };

export function ClaimTable({ claims }: { claims: readonly Claim[] }) {
  if (claims.length === 0) return null;
  return (
    <section aria-label="Claims">
      <h3>Claims</h3>
      <table class="claims">
        <thead>
          <tr>
            <th scope="col">claim</th>
            <th scope="col">expected</th>
            <th scope="col">measured, 95%</th>
            <th scope="col">verdict</th>
          </tr>
        </thead>
        <tbody>
          {claims.map((claim) => (
            <tr key={`${claim.id} ${claim.group}`}>
              <th scope="row">
                {claim.statement}{" "}
                <span class="note">{[claim.group, claim.source].filter((part) => part !== "").join(" · ")}</span>
              </th>
              <td>
                {claim.expected}
                {claim.correction === null ? null : <span class="note"> {claim.correction}</span>}
              </td>
              <td>
                {number(claim.estimate)}
                {claim.interval === null ? null : <span class="note"> {interval(claim.interval)}</span>}
              </td>
              <td>
                <span
                  class={`badge ${claim.verdict}`}
                  title={[claim.because, claim.reason].filter((part) => part !== "").join(" ")}
                >
                  {SIGNS[claim.verdict]} {claim.verdict}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** An interval in words; an open end has no number. */
export function interval([low, high]: readonly [number | null, number | null]): string {
  if (low === null) return high === null ? "unknown" : `up to ${number(high)}`;
  return high === null ? `from ${number(low)}` : low === high ? "exact" : `${number(low)} to ${number(high)}`;
}
