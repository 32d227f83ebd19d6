// Asking the server, and knowing whether it is there.

import { useEffect, useState } from "preact/hooks";
import type { Refusal, Start } from "./api.ts";

/** The server refused a request: a line for people. */
export class Refused extends Error {
  constructor(
    line: string,
    readonly status: number,
  ) {
    super(line);
  }
}

export type Connection = "fine" | "gone" | "locked";

let connection: Connection = "fine";
/** Grows when the server is back: what was asked before is asked again. */
let epoch = 0;
let start: Start | null = null;
const listeners = new Set<() => void>();

/** Asks for JSON. Throws `Refused`, or an `AbortError` if the signal was given. */
export async function ask<T>(method: "GET" | "POST" | "DELETE", path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      signal: signal ?? null,
      cache: "no-store",
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
  } catch (problem) {
    if (signal?.aborted !== true) lost("gone");
    throw problem;
  }
  if (answer.ok) return (await answer.json()) as T;
  const refusal = (await answer.json().catch(() => ({ error: `the server answered ${answer.status}` }))) as Refusal;
  if (answer.status === 401 || answer.status === 403) lost("locked");
  throw new Refused(refusal.error, answer.status);
}

/** Remembers that the server does not answer, and asks until it does. */
export function lost(how: Exclude<Connection, "fine">): void {
  const first = connection === "fine";
  if (connection !== how) {
    connection = how;
    tell();
  }
  if (first) setTimeout(retry, 1000);
}

async function retry(): Promise<void> {
  try {
    const answer = await fetch("/api/start", { cache: "no-store" });
    if (answer.ok) {
      start = (await answer.json()) as Start;
      connection = "fine";
      epoch += 1;
      tell();
      return;
    }
    lost("locked");
  } catch {
    lost("gone");
  }
  setTimeout(retry, 1500);
}

function tell(): void {
  for (const listener of listeners) listener();
}

export interface Server {
  connection: Connection;
  epoch: number;
  /** What the server said at first; null before. */
  start: Start | null;
}

/** The server as it is known now. */
export function useServer(): Server {
  const [server, setServer] = useState<Server>({ connection, epoch, start });
  useEffect(() => {
    const listener = () => setServer({ connection, epoch, start });
    listeners.add(listener);
    listener();
    return () => void listeners.delete(listener);
  }, []);
  return server;
}

/** Says hello; what the server answers is known to all views then. */
export async function greet(): Promise<Start> {
  start = await ask<Start>("GET", "/api/start");
  tell();
  return start;
}
