/** /replay/:id — a finished match again, each step of it verified in this browser. */

import { useEffect, useState } from "preact/hooks";
import { ApiError, get, sentence } from "../api/client";
import type { PageProps } from "../router";
import { text } from "../text";
import { Checks } from "./checks";
import { Player } from "./player";
import { type Proof, prove } from "./proof";
import "./replay.css";

const words = text.replay;

export default function ReplayPage({ params }: PageProps) {
  const id = params.id ?? "";
  return (
    <div class="replay">
      <h1>
        {words.title} <small>{words.match(id)}</small>
      </h1>
      <OfMatch id={id} />
    </div>
  );
}

/** The replay and the proof of a match of this site. */
export function OfMatch({ id }: { id: string }) {
  const [proof, setProof] = useState<Proof | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    setProof(null);
    setFailure(null);
    get("matches/{match_id}/transcript", { params: { match_id: id } })
      .then(prove)
      .then(setProof, setFailure);
  }, [id]);

  if (failure instanceof ApiError && failure.code === "no_transcript") {
    return (
      <section class="panel">
        <p>{words.running}</p>
        <p>
          <a href={`/match/${id}`}>{words.toMatch}</a>
        </p>
      </section>
    );
  }
  if (failure) return <p class="panel">{sentence(failure)}</p>;
  if (proof === null) return <p class="panel">{words.verify.running}</p>;
  return <Proved proof={proof} download={`/api/v1/matches/${id}/transcript`} />;
}

/** What was proved of a transcript, and the match itself. */
export function Proved({ proof, download }: { proof: Proof; download?: string }) {
  return (
    <>
      {proof.header && proof.frames.length > 0 && (
        <Player frames={proof.frames} header={proof.header} />
      )}
      <section class="panel" aria-labelledby="proof">
        <h2 id="proof">{words.verify.this}</h2>
        <p class="hint">{words.verify.intro}</p>
        <Checks found={proof.found} />
        {download && (
          <p class="buttons">
            <a class="button" href={download} download="transcript.json">
              {words.verify.download}
            </a>
          </p>
        )}
        <p class="hint">{words.verify.how}</p>
      </section>
    </>
  );
}
