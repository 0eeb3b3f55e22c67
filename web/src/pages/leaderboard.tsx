/** /leaderboard — all rated players, best first. */
import { useEffect, useState } from "preact/hooks";
import { get, getPage, type Schema } from "../api/client";
import { player } from "../session";
import { text } from "../text";
import { number } from "../text/format";
import { AccountLink } from "../ui/account";
import { useAction } from "../ui/hooks";
import { Empty, Refusal } from "../ui/parts";

const words = text.players.leaderboard;
type Page = Schema["PaginatedRankList"];
const PAGE_SIZE = 25;

export default function LeaderboardPage() {
  const { busy, error, run } = useAction();
  const [page, setPage] = useState<Page | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once
  useEffect(() => {
    void run(async () => setPage(await get("leaderboard", { query: { page_size: PAGE_SIZE } })));
  }, []);
  const showMore = () =>
    run(async () => {
      if (!page?.next) return;
      const more = await getPage<Page>(page.next);
      setPage({ ...more, results: [...page.results, ...more.results] });
    });
  return (
    <>
      <h1>{words.title}</h1>
      <section class="panel stack">
        <p class="hint">{words.hint}</p>
        <Refusal>{error}</Refusal>
        {page?.results.length === 0 && <Empty title={words.none}>{words.noneHint}</Empty>}
        {page && page.results.length > 0 && <Table rows={page.results} />}
        {page?.next && (
          <button type="button" disabled={busy} onClick={showMore}>
            {text.site.more}
          </button>
        )}
      </section>
    </>
  );
}

function Table({ rows }: { rows: Schema["Rank"][] }) {
  return (
    <table class="ranks">
      <thead>
        <tr>
          <th scope="col" class="figure">
            <abbr title={words.rank}>{words.rankSign}</abbr>
          </th>
          <th scope="col">{words.player}</th>
          <th scope="col" class="figure">
            {words.rating}
          </th>
          <th scope="col" class="figure">
            {words.record}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.address} class={row.address === player.value ? "own" : undefined}>
            <td class="figure">{row.rank}</td>
            <td>
              <AccountLink address={row.address} />
            </td>
            <td class="figure">
              <b>{number(row.rating)}</b>{" "}
              {row.provisional && (
                <span class="hint" title={words.provisionalHint}>
                  {words.provisional}
                </span>
              )}
            </td>
            <td class="figure">
              {row.won}–{row.lost}–{row.drawn}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
