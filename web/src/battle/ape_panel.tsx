/** One ape: its portrait and everything it has. */

import { Ape, type Mood } from "../art/ape";
import { Icon, type IconName } from "../art/icons";
import {
  FULL_HEALTH,
  type Ape as Holdings,
  ROUNDS_TO_WIN,
  type Seat,
  STREAK_FOR_POTION,
} from "../engine/state";
import { text } from "../text";

const words = text.battle;

interface Props {
  readonly seat: Seat;
  readonly name: string;
  readonly address: string;
  readonly ape: Holdings;
  readonly mood: Mood;
  readonly isNear: boolean;
}

const HELD = ["alphas", "wilds", "potions"] as const;
const HELD_ICONS: Record<(typeof HELD)[number], IconName> = {
  alphas: "alphas",
  wilds: "wilds",
  potions: "potion",
};

export function ApePanel({ seat, name, address, ape, mood, isNear }: Props) {
  return (
    <section class={`ape-panel ${isNear ? "near" : "far"}`} aria-label={name}>
      <header>
        <h2>{name}</h2>
        <span class="address" title={address}>
          {short(address)}
        </span>
      </header>
      <div class="portrait">
        <Ape
          seat={seat}
          mood={mood}
          isFacingLeft={!isNear}
          label={`${name}: ${words.moods[mood]}`}
        />
      </div>
      <Health health={ape.health} />
      <dl class="held">
        <Dots icon="heart" name={words.things.rounds} n={ape.rounds} of={ROUNDS_TO_WIN} />
        <Dots icon="streak" name={words.things.streak} n={ape.streak} of={STREAK_FOR_POTION} />
        {HELD.map((thing) => (
          <div key={thing} class="count">
            <dt>
              <Icon name={HELD_ICONS[thing]} />
              <span class="unseen">{words.things[thing]}</span>
            </dt>
            <dd>{ape[thing]}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Health({ health }: { health: number }) {
  const level = health > 6 ? "high" : health > 3 ? "middle" : "low";
  return (
    <div class={`health ${level}`}>
      <meter class="unseen" aria-label={words.things.health} max={FULL_HEALTH} value={health} />
      <div class="health-bar" aria-hidden="true">
        <div class="health-fill" style={{ transform: `scaleX(${health / FULL_HEALTH})` }} />
      </div>
      <span class="health-number" aria-hidden="true">
        {health}
      </span>
    </div>
  );
}

function Dots({ icon, name, n, of }: { icon: IconName; name: string; n: number; of: number }) {
  return (
    <div class="dots">
      <dt class="unseen">{name}</dt>
      <dd>
        <span class="unseen">{text.battle.status.inPhase(n, of)}</span>
        {Array.from({ length: of }, (_, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the places are what they are
          <Icon key={place} name={icon} class={place < n ? "" : "unlit"} />
        ))}
      </dd>
    </div>
  );
}

function short(address: string): string {
  return address ? `${address.slice(0, 6)}…${address.slice(-4)}` : "";
}
