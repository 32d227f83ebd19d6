// Claims with their verdicts, as in the report. A claim about several groups is one row, which opens.

import type { Claim } from "../api.ts";
import { number } from "../format.ts";
import { notation, pretty } from "../notation.ts";

const SIGNS: Record<Claim["verdict"], string> = { agrees: "✓", corrected: "✎", inconclusive: "?", differs: "✗" };

/** A claim differs if it does for one of its groups, and is inconclusive if it is for one. */
const GRAVITY = Object.keys(SIGNS) as Claim["verdict"][];

export function ClaimTable({ claims }: { claims: readonly Claim[] }) {
  if (claims.length === 0) return null;
  const byId = new Map<string, Claim[]>();
  for (const claim of claims) byId.set(claim.id, [...(byId.get(claim.id) ?? []), claim]);
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
          {[...byId].map(([id, groups]) => (
            <ClaimRow key={id} groups={groups} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ClaimRow({ groups }: { groups: readonly Claim[] }) {
  const first = groups[0]!;
  const verdict = GRAVITY[Math.max(...groups.map((claim) => GRAVITY.indexOf(claim.verdict)))]!;
  return (
    <tr>
      <th scope="row">
        {pretty(first.statement)}{" "}
        <span class="note">
          {[groups.length === 1 ? notation(first.group) : "", first.source].filter((part) => part !== "").join(" · ")}
        </span>
        {groups.length === 1 ? null : <Groups groups={groups} />}
      </th>
      <td>
        {first.expected}
        {first.correction === null ? null : <span class="note"> {pretty(first.correction)}</span>}
      </td>
      <td>{groups.length === 1 ? <Measured claim={first} /> : `${groups.length} groups`}</td>
      <td>
        <Badge verdict={verdict} because={groups.length === 1 ? `${first.because} ${first.reason}` : first.reason} />
      </td>
    </tr>
  );
}

function Groups({ groups }: { groups: readonly Claim[] }) {
  const counts = GRAVITY.map((verdict) => [verdict, groups.filter((claim) => claim.verdict === verdict).length] as const);
  const said = counts.filter(([, times]) => times > 0).map(([verdict, times]) => `${times} ${verdict}`);
  return (
    <details>
      <summary>{said.join(", ")}</summary>
      <ul>
        {groups.map((claim) => (
          <li key={claim.group}>
            {notation(claim.group)}: <Measured claim={claim} /> <Badge verdict={claim.verdict} because={claim.because} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function Measured({ claim }: { claim: Claim }) {
  return (
    <>
      {number(claim.estimate)} <span class="note">{claim.interval === null ? claim.because : interval(claim.interval)}</span>
    </>
  );
}

function Badge({ verdict, because }: { verdict: Claim["verdict"]; because: string }) {
  return (
    <span class={`badge ${verdict}`} title={because}>
      {SIGNS[verdict]} {verdict}
    </span>
  );
}

/** An interval in words; an open end has no number. */
export function interval([low, high]: readonly [number | null, number | null]): string {
  if (low === null) return high === null ? "unknown" : `up to ${number(high)}`;
  return high === null ? `from ${number(low)}` : low === high ? "exact" : `${number(low)} to ${number(high)}`;
}
