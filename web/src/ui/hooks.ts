/** What pages do again and again. */
import { useEffect, useRef, useState } from "preact/hooks";
import { sentence } from "../api/client";

/** Call at once and every so many seconds, but not while nobody looks; 0 stops it. */
export function useEvery(seconds: number, call: () => unknown): void {
  const latest = useRef(call);
  latest.current = call;
  useEffect(() => {
    if (!seconds) return;
    const run = () => document.visibilityState === "visible" && latest.current();
    run();
    const timer = setInterval(run, seconds * 1000);
    document.addEventListener("visibilitychange", run);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", run);
    };
  }, [seconds]);
}

/** What a page has asked for: `value` stays while it is asked again, so that nothing jumps. */
export type Asked<T> = { value: T | null; error: string; reload: () => Promise<void> };

/** Ask for something now, and again every so many seconds (0: only once, and on `reload`). */
export function useAsked<T>(ask: () => Promise<T>, seconds = 0): Asked<T> {
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState("");
  const reload = async () => {
    try {
      setValue(await ask());
      setError("");
    } catch (thrown) {
      setError(sentence(thrown));
    }
  };
  useEvery(seconds, reload);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only at first, if not again and again
  useEffect(() => {
    if (!seconds) void reload();
  }, []);
  return { value, error, reload };
}

/** Something that the player does: one at a time, with the sentence of what went wrong. */
export function useAction(): {
  busy: boolean;
  error: string;
  run: (action: () => Promise<unknown>) => Promise<void>;
} {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const running = useRef(false);
  const run = async (action: () => Promise<unknown>) => {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    setError("");
    try {
      await action();
    } catch (thrown) {
      setError(sentence(thrown));
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return { busy, error, run };
}
