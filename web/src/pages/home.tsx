/** / — what this is, and the way in. */
import { Ape } from "../art/ape";
import { signedIn } from "../session";
import { text } from "../text";
import { isChoosing } from "../wallet/connection";

const words = text.site.hero;

export default function HomePage() {
  return (
    <>
      <section class="hero">
        <div class="hero-ape" aria-hidden="true">
          <Ape seat="a" mood="idle" />
        </div>
        <div class="stack">
          <h1>{words.title}</h1>
          <p class="lead">{words.lead}</p>
          <p class="buttons">
            {signedIn.value ? (
              <a class="button primary big" href="/lobby">
                {words.play}
              </a>
            ) : (
              <button
                type="button"
                class="primary big"
                onClick={() => {
                  isChoosing.value = true;
                }}
              >
                {words.play}
              </button>
            )}
            <a class="button big" href="/rules">
              {words.rules}
            </a>
          </p>
        </div>
        <div class="hero-ape" aria-hidden="true">
          <Ape seat="b" mood="idle" />
        </div>
      </section>
      <ul class="points">
        {words.points.map(([title, detail]) => (
          <li class="panel" key={title}>
            <h2>{title}</h2>
            <p>{detail}</p>
          </li>
        ))}
      </ul>
    </>
  );
}
