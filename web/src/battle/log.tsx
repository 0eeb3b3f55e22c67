/** What happened, newest first. */

import { text } from "../text";

export function Log({ lines }: { lines: readonly string[] }) {
  const numbered = lines.map((line, n) => ({ line, n })).reverse();
  return (
    <section class="log" aria-label={text.battle.log.title}>
      <h2>{text.battle.log.title}</h2>
      {numbered.length === 0 ? (
        <p>{text.battle.log.empty}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
        <ol reversed tabIndex={0}>
          {numbered.map(({ line, n }) => (
            <li key={n}>{line}</li>
          ))}
        </ol>
      )}
    </section>
  );
}
