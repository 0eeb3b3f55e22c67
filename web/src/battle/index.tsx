/** /match/:id — one match: waiting, fought or over. */

import { useEffect, useMemo } from "preact/hooks";
import type { PageProps } from "../router";
import { player } from "../session";
import { text } from "../text";
import { SignedOut } from "../ui/parts";
import "./battle.css";
import { Battle } from "./battle";
import { Fight } from "./fight";
import { Gone, Joining, Waiting } from "./waiting";

export default function BattlePage(props: PageProps) {
  if (player.value) return <Match {...props} />;
  const isInvited = invitationOf(location.hash) !== "";
  return <SignedOut title={isInvited ? text.battle.joining.invited : text.battle.title} />;
}

function Match({ params }: PageProps) {
  const id = params.id ?? "";
  const address = player.value;
  // Another player sees another match: signing in or out starts anew.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address is such a reason
  const battle = useMemo(() => new Battle(id, invitationOf(location.hash)), [id, address]);
  useEffect(() => battle.start(), [battle]);

  const failure = battle.failure.value;
  const table = battle.table.value;
  if (failure)
    return <Failed message={failure.status === 401 ? text.battle.signIn : failure.message} />;
  if (!table) return <Loading />;
  if (table.status === "open" && !battle.course.value.hasStarted) {
    return table.you === null ? (
      <Joining battle={battle} table={table} />
    ) : (
      <Waiting battle={battle} table={table} />
    );
  }
  if (table.play === null && !battle.course.value.hasStarted) return <Gone table={table} />;
  if (battle.connection.value === "over" && !battle.course.value.hasStarted) {
    return <Failed message={text.battle.joining.running} />;
  }
  if (!battle.isTold.value) return <Loading />;
  return <Fight battle={battle} table={table} />;
}

/** As high as what comes, so that little moves when it comes. */
function Loading() {
  return <p class="panel loading">{text.site.loading}</p>;
}

/** The invitation of a link: behind the #, so that no server logs it. */
function invitationOf(hash: string): string {
  return new URLSearchParams(hash.slice(1)).get("invitation") ?? "";
}

function Failed({ message }: { message: string }) {
  return (
    <section class="panel">
      <h1>{text.battle.title}</h1>
      <p>{message}</p>
    </section>
  );
}
