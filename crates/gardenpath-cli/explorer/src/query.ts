// A question to the server whose answer is shown: asked again when it changes, a moment later while it changes often. What is superseded is aborted;
// until the new answer is there, the last one stays. Answers are functions of their questions, so the last ones are kept for who comes back to a view.

import { useEffect, useState } from "preact/hooks";
import { ask, Refused, useServer } from "./client.ts";

export interface Answer<T> {
  value: T | null;
  /** Why there is no answer to the last question. */
  error: string | null;
  /** Whether what is shown is not yet the answer to this question. */
  busy: boolean;
}

interface Known<T> {
  question: string | null;
  value: T | null;
  error: string | null;
}

const KEPT = 24;
const kept = new Map<string, unknown>();

/**
 * Posts `body` to `path`, or gets `path` if there is no body, after `delay` milliseconds without a change. Nothing is asked while
 * `path` is null.
 */
export function useQuery<T>(path: string | null, body?: unknown, delay = 0): Answer<T> {
  const { epoch } = useServer();
  const question = path === null ? null : `${path} ${body === undefined ? "" : JSON.stringify(body)}`;
  const [known, setKnown] = useState<Known<T>>(() => recall(question));
  useEffect(() => {
    if (path === null || question === null) return;
    const before = recall<T>(question);
    if (before.question !== null && body !== undefined) return setKnown(before);
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const value = await ask<T>(body === undefined ? "GET" : "POST", path, body, controller.signal);
        if (controller.signal.aborted) return;
        keep(question, value);
        setKnown({ question, value, error: null });
      } catch (problem) {
        if (controller.signal.aborted) return;
        const refused = problem instanceof Refused && problem.status !== 401 && problem.status !== 403;
        // That the server is not there is said at the top of the page; what was shown stays.
        setKnown((last) => (refused ? { question, value: null, error: problem.message } : { ...last, question }));
      }
    }, delay);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [question, epoch]);
  return { value: known.value, error: known.error, busy: question !== null && known.question !== question };
}

function recall<T>(question: string | null): Known<T> {
  if (question === null || !kept.has(question)) return { question: null, value: null, error: null };
  return { question, value: kept.get(question) as T, error: null };
}

function keep(question: string, value: unknown): void {
  kept.delete(question);
  kept.set(question, value);
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT) break;
    kept.delete(oldest);
  }
}
