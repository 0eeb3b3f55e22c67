/** The two apes: a chimpanzee sits at seat a, a gorilla at seat b. */

import type { ComponentChildren } from "preact";
import type { Seat } from "../engine/state";
import "./ape.css";

export type Mood = "idle" | "locked" | "hit" | "winner" | "asleep";

interface Species {
  readonly fur: string;
  readonly shade: string;
  readonly skin: string;
  readonly blush: string;
  readonly ears: { readonly x: number; readonly y: number; readonly r: number };
  readonly head: string;
  readonly hair: string;
  readonly face: string;
  readonly nose: ComponentChildren;
}

const INK = "#2b1d14";

const SPECIES: Record<Seat, Species> = {
  a: {
    fur: "#8a5230",
    shade: "#6d3e22",
    skin: "#f3c998",
    blush: "#e79a72",
    ears: { x: 44, y: 62, r: 16 },
    head: "M80 20c25 0 41 18 41 42s-17 41-41 41-41-17-41-41 16-42 41-42z",
    hair: "M72 24c-3-9 2-15 9-16-2 4-1 7 2 8 2-4 6-6 10-5-4 3-4 8-5 13z",
    face: "M80 43c11-12 32-6 31 12-1 8-5 10-4 18 1 17-11 27-27 27s-28-10-27-27c1-8-3-10-4-18-1-18 20-24 31-12z",
    nose: <path d="M76 74q4 3 8 0" />,
  },
  b: {
    fur: "#5b6b86",
    shade: "#434f68",
    skin: "#a9b3c6",
    blush: "#8f8fb4",
    ears: { x: 41, y: 68, r: 10 },
    head: "M80 12c16 0 23 9 28 19 8 8 13 19 13 32 0 24-17 40-41 40S39 87 39 63c0-13 5-24 13-32 5-10 12-19 28-19z",
    hair: "M60 24c4-9 11-15 20-15s16 6 20 15c-6-4-13-6-20-6s-14 2-20 6z",
    face: "M80 46c9-9 29-7 31 8 1 9-3 11-2 18 2 17-11 28-29 28S49 89 51 72c1-7-3-9-2-18 2-15 22-17 31-8z",
    nose: <path d="M70 77q2-6 7-5q3 2 3 2q0 0 3-2q5-1 7 5" />,
  },
};

const EYES: Record<Mood, ComponentChildren> = {
  idle: (
    <g class="ape-blink">
      <ellipse cx="66" cy="58" rx="7" ry="8" fill="#fff" stroke={INK} stroke-width="2" />
      <ellipse cx="94" cy="58" rx="7" ry="8" fill="#fff" stroke={INK} stroke-width="2" />
      <circle cx="68" cy="60" r="4" fill={INK} />
      <circle cx="92" cy="60" r="4" fill={INK} />
      <circle cx="69.5" cy="58" r="1.4" fill="#fff" />
      <circle cx="93.5" cy="58" r="1.4" fill="#fff" />
    </g>
  ),
  locked: (
    <>
      <ellipse cx="66" cy="59" rx="7" ry="7" fill="#fff" stroke={INK} stroke-width="2" />
      <ellipse cx="94" cy="59" rx="7" ry="7" fill="#fff" stroke={INK} stroke-width="2" />
      <circle cx="70" cy="59" r="4" fill={INK} />
      <circle cx="98" cy="59" r="4" fill={INK} />
      <path d="M57 50l17 4M103 50l-17 4" stroke={INK} stroke-width="4" stroke-linecap="round" />
    </>
  ),
  hit: (
    <g stroke={INK} stroke-width="4" stroke-linecap="round" stroke-linejoin="round" fill="none">
      <path d="M60 52l12 6-12 6M100 52l-12 6 12 6" />
    </g>
  ),
  winner: (
    <g stroke={INK} stroke-width="4" stroke-linecap="round" fill="none">
      <path d="M58 61q8-12 16 0M86 61q8-12 16 0" />
    </g>
  ),
  asleep: (
    <g stroke={INK} stroke-width="3.5" stroke-linecap="round" fill="none">
      <path d="M58 58q8 7 16 0M86 58q8 7 16 0" />
    </g>
  ),
};

const MOUTH: Record<Mood, ComponentChildren> = {
  idle: (
    <path d="M68 86q12 8 24 0" fill="none" stroke={INK} stroke-width="3" stroke-linecap="round" />
  ),
  locked: null, // it is behind the hands
  hit: (
    <path
      d="M68 90q4-6 8 0t8 0 8 0"
      fill="none"
      stroke={INK}
      stroke-width="3"
      stroke-linecap="round"
    />
  ),
  winner: (
    <>
      <path
        d="M62 82h36q-2 16-18 16T62 82z"
        fill="#7b2432"
        stroke={INK}
        stroke-width="2.5"
        stroke-linejoin="round"
      />
      <path d="M64 83h32l-2 5H66z" fill="#fff" />
      <path d="M72 95q8-6 16 0-8 3-16 0z" fill="#e9727f" />
    </>
  ),
  asleep: <ellipse cx="80" cy="89" rx="5" ry="6" fill="#7b2432" stroke={INK} stroke-width="2.5" />,
};

/** What an ape does with its arms, in front of its face. */
function arms(mood: Mood, { fur, skin }: Species): ComponentChildren {
  const sleeve = {
    stroke: fur,
    "stroke-width": 20,
    "stroke-linecap": "round",
    fill: "none",
  } as const;
  const finger = {
    stroke: INK,
    "stroke-width": 2,
    "stroke-linecap": "round",
    fill: "none",
  } as const;
  if (mood === "locked") {
    return (
      <>
        <path d="M28 138Q34 108 58 94M132 138q-6-30-30-44" {...sleeve} />
        <g fill={skin} stroke={INK} stroke-width="2">
          <rect x="54" y="78" width="32" height="21" rx="10" transform="rotate(8 70 88)" />
          <rect x="74" y="78" width="32" height="21" rx="10" transform="rotate(-8 90 88)" />
        </g>
        <path d="M80 84l8-1M80 89l8-1M80 94l7-1" {...finger} />
      </>
    );
  }
  if (mood === "winner") {
    return (
      <>
        <path d="M32 138Q10 110 20 76M128 138q22-28 12-62" {...sleeve} />
        <g fill={skin} stroke={INK} stroke-width="2.5">
          <circle cx="20" cy="66" r="13" />
          <circle cx="140" cy="66" r="13" />
        </g>
        <path d="M13 63v8M20 62v9M27 63v8M133 63v8M140 62v9M147 63v8" {...finger} />
      </>
    );
  }
  return null;
}

const EXTRAS: Record<Mood, ComponentChildren> = {
  idle: null,
  locked: null,
  hit: (
    <g fill="#ffd24a" stroke={INK} stroke-width="2" stroke-linejoin="round" class="ape-stars">
      <path d="M40 22l3 7 7 1-5 5 1 7-6-4-6 4 1-7-5-5 7-1z" />
      <path d="M116 14l3 7 7 1-5 5 1 7-6-4-6 4 1-7-5-5 7-1z" />
      <path d="M78 2l2 5 6 1-4 4 1 6-5-3-5 3 1-6-4-4 6-1z" />
    </g>
  ),
  winner: (
    <path
      d="M57 24L52 4l14 8L80-2l14 14 14-8-5 20q-23-7-46 0z"
      fill="#ffd24a"
      stroke={INK}
      stroke-width="3"
      stroke-linejoin="round"
    />
  ),
  asleep: (
    <g
      class="ape-snore"
      fill="none"
      stroke="currentColor"
      stroke-width="4"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d="M114 38h12l-12 14h12" />
      <path d="M132 14h16l-16 18h16" />
    </g>
  ),
};

/** An ape's portrait; `label` is for those who can't see it, empty if the text beside says it. */
export function Ape(props: { seat: Seat; mood: Mood; isFacingLeft?: boolean; label?: string }) {
  const { seat, mood, isFacingLeft = false, label = "" } = props;
  const species = SPECIES[seat];
  const { fur, shade, skin, blush, ears } = species;
  return (
    <svg
      class={`ape ape-${mood} ${isFacingLeft ? "ape-facing-left" : ""}`}
      viewBox="0 -12 160 152"
      role="img"
      aria-label={label}
      aria-hidden={label === ""}
    >
      <path d="M18 140q4-34 34-42h56q30 8 34 42z" fill={shade} />
      <path d="M52 140q2-24 28-26 26 2 28 26z" fill={skin} opacity="0.55" />
      <g class="ape-head">
        {[ears.x, 160 - ears.x].map((x) => (
          <g key={x}>
            <circle cx={x} cy={ears.y} r={ears.r} fill={fur} stroke={INK} stroke-width="2.5" />
            <circle cx={x} cy={ears.y} r={ears.r * 0.55} fill={skin} />
          </g>
        ))}
        <path d={species.head} fill={fur} stroke={INK} stroke-width="2.5" />
        <path d={species.hair} fill={shade} />
        <path d={species.face} fill={skin} />
        <circle cx="59" cy="78" r="6" fill={blush} opacity="0.6" />
        <circle cx="101" cy="78" r="6" fill={blush} opacity="0.6" />
        {EYES[mood]}
        <g fill="none" stroke={INK} stroke-width="2.5" stroke-linecap="round">
          {species.nose}
        </g>
        {MOUTH[mood]}
        {EXTRAS[mood]}
      </g>
      {arms(mood, species)}
    </svg>
  );
}
