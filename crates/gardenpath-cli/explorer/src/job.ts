// The work that this tab has given to the server, and what it has heard of it. The server stops the work soon after nobody listens any more, so
// closing the page ends it; a reload finds it again by its number, which is kept for this tab alone.

import { useEffect, useState } from "preact/hooks";
import type { CurvePoint, End, Floors, JobEvents, JobRequest, ProgressEvent, RulesFound } from "./api.ts";
import { ask, greet } from "./client.ts";

export interface Job {
  id: string;
  request: JobRequest;
  floors: Floors | null;
  points: readonly CurvePoint[];
  /** The last comparison with the truth, and the last news of levels at work. */
  rules: RulesFound | null;
  news: RulesFound | null;
  progress: ProgressEvent | null;
  end: End | null;
}

const KEY = "gardenpath-job";

let job: Job | null = null;
let source: EventSource | null = null;
let restored = false;
const listeners = new Set<() => void>();

function set(changed: Job | null): void {
  job = changed;
  for (const listener of listeners) listener();
}

/** The job of this tab; null before the first one. */
export function useJob(): Job | null {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((times) => times + 1);
    listeners.add(listener);
    restore();
    return () => void listeners.delete(listener);
  }, []);
  return job;
}

/** Starts the work. Throws what the server refuses. */
export async function startJob(request: JobRequest): Promise<void> {
  const { id } = await ask<{ id: string | number }>("POST", "/api/jobs", request);
  sessionStorage.setItem(KEY, JSON.stringify({ id: String(id), request }));
  listen(String(id), request);
}

/** Asks the server to stop; the end is told like any other. */
export async function stopJob(): Promise<void> {
  if (job === null || job.end !== null) return;
  await ask("DELETE", `/api/jobs/${encodeURIComponent(job.id)}`).catch(() => undefined);
}

/** After a reload: listens again, once. */
function restore(): void {
  if (restored) return;
  restored = true;
  const kept = sessionStorage.getItem(KEY);
  if (kept === null || job !== null) return;
  const { id, request } = JSON.parse(kept) as { id: string; request: JobRequest };
  listen(id, request);
}

function listen(id: string, request: JobRequest): void {
  source?.close();
  set({ id, request, floors: null, points: [], rules: null, news: null, progress: null, end: null });
  const events = new EventSource(`/api/jobs/${encodeURIComponent(id)}/events`);
  source = events;
  let last = -1;
  const on = <Name extends keyof JobEvents>(name: Name, take: (before: Job, data: JobEvents[Name]) => Partial<Job>) => {
    events.addEventListener(name, (event) => {
      if (source !== events || job === null) return;
      // What is remembered is numbered, and told again to who connects again.
      if (name !== "progress") {
        const number = Number(event.lastEventId);
        if (number <= last) return;
        last = number;
      }
      set({ ...job, ...take(job, JSON.parse(event.data) as JobEvents[Name]) });
    });
  };
  on("floors", (_, floors) => ({ floors }));
  on("progress", (_, progress) => ({ progress }));
  on("point", (before, point) => ({ points: [...before.points, point] }));
  on("rules", (_, found) => (found.final ? { rules: found, news: null } : { news: found }));
  on("end", (_, end) => {
    events.close();
    sessionStorage.removeItem(KEY);
    return { end };
  });
  events.addEventListener("error", () => {
    // Find out, and say at the top of the page, whether the server is there.
    void greet().catch(() => undefined);
    // The browser connects again, unless the server refuses. A page that is being left hears the same, and has no time to wait.
    if (events.readyState === EventSource.CLOSED) setTimeout(() => source === events && abandon(), 500);
  });
}

/** Gives up a job that the server does not know any more. */
function abandon(): void {
  if (job === null || job.end !== null) return;
  sessionStorage.removeItem(KEY);
  // After a reload there may have been nothing to listen to: the form is enough then.
  if (job.floors === null) return set(null);
  set({ ...job, end: { how: "stopped", line: "The server has ended this work.", seconds: job.progress?.seconds ?? 0 } });
}
