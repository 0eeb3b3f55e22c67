/** /player/:address — a player's rating, record and matches. */
import { useEffect, useState } from "preact/hooks";
import { get, getPage, type Schema } from "../api/client";
import type { PageProps } from "../router";
import { player } from "../session";
import { text } from "../text";
import { date, inCredits, number, short } from "../text/format";
import { AccountLink } from "../ui/account";
import { Face } from "../ui/face";
import { useAction, useAsked } from "../ui/hooks";
import { CopyButton, Empty, Refusal } from "../ui/parts";

const words = text.players.profile;
type Matches = Schema["PaginatedPastMatchList"];
const PAGE_SIZE = 10;

export default function PlayerPage({ params }: PageProps) {
  const address = params.address ?? "";
  const found = useAsked(() => get("players/{address}", { params: { address } }));
  const record = found.value;
  const isYou = record !== null && record.address === player.value;
  return (
    <>
      <header class="profile">
        <Face address={record?.address ?? address} size={96} />
        <div>
          <h1>
            <span class="unseen">{text.site.pages.player} </span>
            {short(record?.address ?? address)}
          </h1>
          <p class="hint">
            {isYou && `${words.you}. `}
            {record?.since && words.since(date(record.since))}
          </p>
          <p class="full">
            <code>{record?.address ?? address}</code>
            <CopyButton value={record?.address ?? address} />
          </p>
        </div>
      </header>
      <Refusal>{found.error}</Refusal>
      {record && (
        <>
          <Figures record={record} />
          {player.value && !isYou && <Against address={record.address} />}
          <Matches address={record.address} />
        </>
      )}
    </>
  );
}

function Figures({ record }: { record: Schema["Player"] }) {
  const figures = [
    [words.played, record.played],
    [words.won, record.won],
    [words.lost, record.lost],
    [words.drawn, record.drawn],
  ] as const;
  return (
    <dl class="figures five">
      <div class="panel">
        <dt>{words.rating}</dt>
        <dd>
          {record.rating === null ? (
            <small>{words.unrated}</small>
          ) : (
            <>
              {number(record.rating)}{" "}
              {record.deviation !== null && <small>{words.give(number(record.deviation))}</small>}
            </>
          )}
        </dd>
      </div>
      {figures.map(([name, value]) => (
        <div class="panel" key={name}>
          <dt>{name}</dt>
          <dd>{number(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Against({ address }: { address: string }) {
  const found = useAsked(() =>
    get("players/{address}/against/{other}", { params: { address: player.value, other: address } }),
  );
  const score = found.value;
  if (!score) return null;
  const played = score.won + score.lost + score.drawn;
  return (
    <section class="panel stack" aria-labelledby="against">
      <h2 id="against">{words.against}</h2>
      <p>{played ? words.againstScore(score.won, score.lost, score.drawn) : words.againstNone}</p>
    </section>
  );
}

function Matches({ address }: { address: string }) {
  const { busy, error, run } = useAction();
  const [page, setPage] = useState<Matches | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once
  useEffect(() => {
    const query = { page_size: PAGE_SIZE };
    void run(async () =>
      setPage(await get("players/{address}/matches", { params: { address }, query })),
    );
  }, []);
  const showMore = () =>
    run(async () => {
      if (!page?.next) return;
      const older = await getPage<Matches>(page.next);
      setPage({ ...older, results: [...page.results, ...older.results] });
    });
  return (
    <section class="panel stack" aria-labelledby="matches">
      <h2 id="matches">{words.matches}</h2>
      <Refusal>{error}</Refusal>
      {page?.results.length === 0 && <Empty title={words.none}>{words.noneHint}</Empty>}
      <ul class="cards">
        {page?.results.map((match) => (
          <li class="card" key={match.id}>
            <span class={`tag ${match.result}`}>{words.result[match.result]}</span>
            <AccountLink address={match.opponent} />
            <span class="stake">
              {match.stake ? inCredits(match.stake) : text.lobby.practiceMatch}
            </span>
            {match.payout > 0 && <span>{words.payout(inCredits(match.payout))}</span>}
            {match.ended_at && <time class="hint">{date(match.ended_at)}</time>}
            <a
              class="button"
              href={`/replay/${match.id}`}
              aria-label={words.replayLabel(short(match.opponent))}
            >
              {words.replay}
            </a>
          </li>
        ))}
      </ul>
      {page?.next && (
        <button type="button" disabled={busy} onClick={showMore}>
          {text.site.more}
        </button>
      )}
    </section>
  );
}
