// A few facts side by side: large what matters, small what it means.

export type Fact = [large: string, small: string];

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([large, small], k) => (
        <div key={k}>
          <dt>{large}</dt>
          <dd>{small}</dd>
        </div>
      ))}
    </dl>
  );
}
