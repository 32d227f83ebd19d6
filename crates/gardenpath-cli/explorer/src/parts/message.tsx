// One line in place of what cannot be shown.

export function Message({ error }: { error: string | null }) {
  return error === null ? null : (
    <p class="message error" role="alert">
      {error}
    </p>
  );
}
