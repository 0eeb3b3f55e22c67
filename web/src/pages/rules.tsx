/** /rules — the rules as tables, made of the same data that the engine plays by. */
import { Icon } from "../art/icons";
import { effectInWords } from "../battle/words";
import { GOD_V1 } from "../engine/ruleset";
import { INFLUENCES, type Influence, MOVES, type Move } from "../engine/state";
import { effectOf, outcomeOf } from "../engine/tables";
import { text } from "../text";

const words = text.rules;
const { moves, influences } = text.battle;

/** Kinds of wins: what they are called, and an example of each. */
const WINS: [keyof typeof words.influences, Move, Move][] = [
  ["core", "rock", "scissors"],
  ["alpha", "alpha", "rock"],
  ["wild", "wild", "alpha"],
];

export default function RulesPage() {
  return (
    <div class="rules stack">
      <h1>{words.title}</h1>
      <p class="lead">{words.lead}</p>
      <Beats />
      <section class="panel stack" aria-labelledby="course">
        <h2 id="course">{words.course.title}</h2>
        <ol class="points">
          {words.course.steps.map(([title, detail]) => (
            <li key={title}>
              <h3>{title}</h3>
              <p>{detail}</p>
            </li>
          ))}
        </ol>
      </section>
      <section class="stack" aria-labelledby="influences">
        <h2 id="influences">{words.influences.title}</h2>
        <p class="hint">{words.influences.hint}</p>
        <ul class="influences">
          {INFLUENCES.map((influence) => (
            <InfluenceCard key={influence} influence={influence} />
          ))}
        </ul>
      </section>
      <section class="panel stack" aria-labelledby="around">
        <h2 id="around">{words.around.title}</h2>
        <dl class="around">
          {words.around.items.map(([term, detail]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{detail}</dd>
            </div>
          ))}
        </dl>
      </section>
    </div>
  );
}

function Beats() {
  return (
    <section class="panel stack" aria-labelledby="beats">
      <h2 id="beats">{words.beats.title}</h2>
      <p class="hint">{words.beats.hint}</p>
      <table class="beats">
        <thead>
          <tr>
            <th scope="col">{words.beats.corner}</th>
            {MOVES.map((move) => (
              <th scope="col" key={move}>
                <Icon name={move} />
                <span>{moves[move]}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {MOVES.map((move) => (
            <tr key={move}>
              <th scope="row">
                <Icon name={move} />
                <span>{moves[move]}</span>
              </th>
              {MOVES.map((other) => {
                const outcome = outcomeOf(move, other);
                return (
                  <td key={other} class={outcome}>
                    {words.beats.outcome[outcome]}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        {words.beats.alpha} {words.beats.wild} {words.beats.held}
      </p>
    </section>
  );
}

function InfluenceCard({ influence }: { influence: Influence }) {
  return (
    <li class={`panel stack ${influence}`}>
      <h3>
        <Icon name={influence} /> {influences[influence]}
      </h3>
      <p class="hint">{words.influences.mood[influence]}</p>
      <dl>
        {WINS.map(([name, move, other]) => (
          <div key={name}>
            <dt>{words.influences[name] as string}</dt>
            <dd>{effectInWords(effectOf(influence, move, other, GOD_V1), move)}</dd>
          </div>
        ))}
      </dl>
    </li>
  );
}
