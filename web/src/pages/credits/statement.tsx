/** Every change of the available credits, newest first. */
import { useEffect, useState } from "preact/hooks";
import { get, getPage, type Schema } from "../../api/client";
import { text } from "../../text";
import { date, number } from "../../text/format";
import { useAction } from "../../ui/hooks";
import { Empty, Refusal } from "../../ui/parts";

const words = text.credits.statement;
type Page = Schema["PaginatedPostingList"];
const PAGE_SIZE = 10;

/** `balance` is what the page shows at its top: when it changes, there are new lines. */
export function Statement({ balance }: { balance: number | undefined }) {
  const { busy, error, run } = useAction();
  const [page, setPage] = useState<Page | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new balance is the reason
  useEffect(() => {
    void run(async () =>
      setPage(await get("credits/statement", { query: { page_size: PAGE_SIZE } })),
    );
  }, [balance]);
  const showMore = () =>
    run(async () => {
      if (!page?.next) return;
      const older = await getPage<Page>(page.next);
      setPage({ ...older, results: [...page.results, ...older.results] });
    });
  return (
    <section class="panel stack" aria-labelledby="statement">
      <div class="heading">
        <h2 id="statement">{words.title}</h2>
        {page && page.results.length > 0 && (
          <a href="/api/v1/credits/statement.csv" download>
            {words.csv}
          </a>
        )}
      </div>
      <Refusal>{error}</Refusal>
      {page?.results.length === 0 && <Empty title={words.none}>{words.noneHint}</Empty>}
      {page && page.results.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">{words.what}</th>
              <th scope="col">{words.when}</th>
              <th scope="col" class="figure">
                {words.amount}
              </th>
              <th scope="col" class="figure">
                {words.balance}
              </th>
            </tr>
          </thead>
          <tbody>
            {page.results.map((line) => (
              <tr key={line.id}>
                <td>{cause(line)}</td>
                <td class="hint">{date(line.created_at)}</td>
                <td class={line.amount < 0 ? "figure minus" : "figure plus"}>
                  {line.amount > 0 ? "+" : ""}
                  {number(line.amount)}
                </td>
                <td class="figure">{number(line.balance)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {page?.next && (
        <button type="button" disabled={busy} onClick={showMore}>
          {text.site.more}
        </button>
      )}
    </section>
  );
}

const MATCH = /^(?:stake|release|refund):([0-9a-f-]{36})/;

/** What a line is for, with a way to the match if it was one. */
function cause(line: Schema["Posting"]) {
  const kind = words.kinds[line.kind] ?? line.kind;
  const match = MATCH.exec(line.cause)?.[1];
  return match ? <a href={`/match/${match}`}>{kind}</a> : kind;
}
