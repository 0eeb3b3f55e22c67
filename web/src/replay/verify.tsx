/** /verify — check a transcript: of a match of this site (?match=…), or any that one has kept. */

import { useState } from "preact/hooks";
import { here } from "../router";
import { text } from "../text";
import { parseStrictly } from "../verify/json";
import { OfMatch, Proved } from "./index";
import { type Proof, prove } from "./proof";

const words = text.replay.verify;

export default function VerifyPage() {
  const match = here.value.searchParams.get("match");
  return (
    <div class="replay">
      <h1>{words.title}</h1>
      {match ? <OfMatch id={match} /> : <OfFile />}
    </div>
  );
}

function OfFile() {
  const [proof, setProof] = useState<Proof | null>(null);
  const [refused, setRefused] = useState("");
  const check = async (json: string) => {
    setProof(null);
    setRefused("");
    try {
      setProof(await prove(parseStrictly(json)));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      setRefused(words.notJson(error.message));
    }
  };
  return (
    <>
      <form
        class="panel of-file"
        onSubmit={(event) => {
          event.preventDefault();
          const pasted = new FormData(event.currentTarget).get("pasted");
          void check(String(pasted));
        }}
      >
        <p>{words.intro}</p>
        <label>
          {words.pick}
          <input
            type="file"
            accept="application/json,.json"
            onChange={async (event) => {
              const file = event.currentTarget.files?.[0];
              if (file) await check(await file.text());
            }}
          />
        </label>
        <label>
          {words.paste}
          <textarea name="pasted" rows={5} spellcheck={false} />
        </label>
        <p class="buttons">
          <button type="submit" class="primary">
            {words.check}
          </button>
        </p>
        <p class="refused" role="alert">
          {refused}
        </p>
      </form>
      {proof && <Proved proof={proof} />}
    </>
  );
}
