/** What happened, the newest last and in sight. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { text } from "../text";

export function Log({ lines }: { lines: readonly string[] }) {
  const list = useRef<HTMLOListElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new line is the reason
  useLayoutEffect(() => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [lines.length]);
  return (
    <section class="log" aria-label={text.battle.log.title}>
      <h2>{text.battle.log.title}</h2>
      {lines.length === 0 ? (
        <p>{text.battle.log.empty}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
        <ol ref={list} tabIndex={0}>
          {lines.map((line, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line keeps its place
            <li key={n}>{line}</li>
          ))}
        </ol>
      )}
    </section>
  );
}
