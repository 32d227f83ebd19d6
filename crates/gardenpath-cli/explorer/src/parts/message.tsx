// One line in place of what cannot be shown.

export function Message({ error, waiting }: { error: string | null; waiting?: string }) {
  if (error !== null) return <p class="message error" role="alert">{error}</p>;
  return waiting === undefined ? null : <p class="message">{waiting}</p>;
}
