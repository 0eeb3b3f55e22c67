/** Moves, influences and belongings: flat shapes with one dark outline. They are decoration: the
 * word for each stands beside it. */

import type { ComponentChildren } from "preact";
import type { Influence, Move } from "../engine/state";
import "./icons.css";

const INK = "#2b1d14";
const HAND = "#e8b07c";
const FUR = "#8a5230";

export type Thing = "tribute" | "potion" | "heart" | "streak" | "lock" | "alphas" | "wilds";
export type IconName = Move | Influence | Thing | "opening";

const CUFF = <path d="M20 50h24v12H20z" fill={FUR} />;

const BANANA = (
  <>
    <path d="M14 14c-3 22 8 38 34 38 5 0 8-3 8-6-21-2-31-14-33-33-3-3-7-3-9 1z" fill="#ffd24a" />
    <path d="M14 14c1-3 5-5 9-2l-1-7-6 1z" fill="#7a5a1e" />
    <path d="M19 20c2 15 10 24 24 27" fill="none" stroke="#c99a1a" stroke-width="2.5" />
    <path d="M53 45l5 2-2 5-6-1z" fill="#7a5a1e" />
  </>
);

const CROWN = (
  <>
    <path d="M10 48L6 18l14 11L32 10l12 19 14-11-4 30z" fill="#ffb52e" />
    <path d="M10 48h44v8H10z" fill="#e88a12" />
    <circle cx="32" cy="40" r="4.5" fill="#d8383f" />
    <circle cx="18" cy="42" r="2.5" fill="#fff3c4" stroke="none" />
    <circle cx="46" cy="42" r="2.5" fill="#fff3c4" stroke="none" />
  </>
);

const ICONS: Record<IconName, ComponentChildren> = {
  rock: (
    <>
      {CUFF}
      <rect x="13" y="16" width="38" height="36" rx="13" fill={HAND} />
      <path d="M23 17v12M32 16v13M41 17v12" fill="none" />
      <rect x="11" y="29" width="28" height="12" rx="6" fill={HAND} />
    </>
  ),
  paper: (
    <>
      {CUFF}
      <path
        d="M17 40V16a4 4 0 0 1 8 0v-6a4 4 0 0 1 8 0v5a4 4 0 0 1 8 0v6a4 4 0 0 1 8 0v19q0 14-16 14-11 0-17-9L6 36c-3-4 2-9 6-5z"
        fill={HAND}
      />
      <path d="M25 16v14M33 14v16M41 18v12" fill="none" />
    </>
  ),
  scissors: (
    <>
      {CUFF}
      <path d="M22 36L13 9a4.5 4.5 0 0 1 8.5-3L31 30z" fill={HAND} />
      <path d="M30 32l8-26a4.5 4.5 0 0 1 8.5 3L41 36z" fill={HAND} />
      <rect x="16" y="28" width="32" height="25" rx="11" fill={HAND} />
      <path d="M39 30v12" fill="none" />
      <rect x="15" y="35" width="24" height="10" rx="5" fill={HAND} />
    </>
  ),
  wild: BANANA,
  wilds: BANANA,
  alpha: CROWN,
  alphas: CROWN,
  tribute: (
    <>
      <circle cx="23" cy="25" r="9" fill="#e2574c" />
      <circle cx="41" cy="25" r="9" fill="#f0932b" />
      <circle cx="32" cy="17" r="9" fill="#7fb545" />
      <path d="M32 9q1-5 6-6" fill="none" />
      <path d="M6 30h52q-2 20-18 24H24Q8 50 6 30z" fill="#b87333" />
      <path d="M14 38h36" fill="none" stroke="#f3c998" />
    </>
  ),
  potion: (
    <>
      <path
        d="M25 8h14v14c10 4 15 11 15 19 0 11-9 17-22 17s-22-6-22-17c0-8 5-15 15-19z"
        fill="#e8f6ff"
      />
      <path
        d="M12 39c7-4 13 3 20 0s13-3 20 0c2 11-7 17-20 17s-22-6-20-17z"
        fill="#e2405a"
        stroke="none"
      />
      <path
        d="M25 8h14v14c10 4 15 11 15 19 0 11-9 17-22 17s-22-6-22-17c0-8 5-15 15-19z"
        fill="none"
      />
      <rect x="22" y="3" width="20" height="8" rx="3" fill="#b87333" />
      <path d="M32 52l-6-6a4 4 0 0 1 6-5 4 4 0 0 1 6 5z" fill="#fff" stroke="none" />
    </>
  ),
  heart: <path d="M32 56L9 33C-2 20 17 2 32 18 47 2 66 20 55 33z" fill="#e2405a" />,
  streak: (
    <path
      d="M34 4c3 12 16 16 16 33 0 13-8 21-18 21s-18-8-18-20c0-8 4-13 8-17 1 5 3 7 6 8 2-9 1-17 6-25z"
      fill="#ff8b2b"
    />
  ),
  lock: (
    <>
      <path d="M20 30V20a12 12 0 0 1 24 0v10" fill="none" stroke-width="6" />
      <rect x="11" y="28" width="42" height="30" rx="7" fill="#ffd24a" />
      <path d="M32 39v9" fill="none" stroke-width="5" />
    </>
  ),
  opening: medallion(
    "#f6e7cf",
    <path d="M22 44V22l10-6 10 6v22M16 46h32M28 44V34h8v10" fill="#b87333" />,
  ),
  sun: medallion(
    "#fff0c2",
    <>
      <path
        d="M32 9v8M32 47v8M9 32h8M47 32h8M16 16l5 5M43 43l5 5M48 16l-5 5M21 43l-5 5"
        fill="none"
        stroke="#d97706"
        stroke-width="4"
      />
      <circle cx="32" cy="32" r="11" fill="#ffb52e" />
    </>,
  ),
  water: medallion(
    "#d5efff",
    <>
      <path d="M32 10c8 11 14 18 14 26a14 14 0 0 1-28 0c0-8 6-15 14-26z" fill="#2f8fd8" />
      <path d="M22 37c4-4 7 3 10 0s6-3 10 0" fill="none" stroke="#fff" stroke-width="3" />
    </>,
  ),
  moon: medallion(
    "#e4dcfa",
    <>
      <path d="M38 12a20 20 0 1 0 13 29 17 17 0 0 1-13-29z" fill="#7a68c9" />
      <path
        d="M46 16l1.5 4 4 1.5-4 1.5L46 27l-1.5-4-4-1.5 4-1.5z"
        fill="#ffd24a"
        stroke-width="1.5"
      />
    </>,
  ),
  earth: medallion(
    "#dcf2d0",
    <>
      <path d="M10 46l14-24 8 12 6-8 16 20q-9 9-22 9t-22-9z" fill="#5a9440" />
      <path d="M24 22l-5 9 5 2 5-3z" fill="#fff" stroke-width="2" />
      <path d="M40 46q6-10 12-2" fill="none" stroke="#2f6b1f" />
    </>,
  ),
};

/** The four influences are of one look: a disc, a ring, a sign. */
function medallion(ground: string, sign: ComponentChildren): ComponentChildren {
  return (
    <>
      <circle cx="32" cy="32" r="30" fill={ground} />
      <circle cx="32" cy="32" r="26" fill="none" stroke-width="1.5" stroke-dasharray="1 4" />
      {sign}
    </>
  );
}

/** An icon as wide as the text around it is high, or as its class says. */
export function Icon({ name, class: className = "" }: { name: IconName; class?: string }) {
  return (
    <svg class={`icon ${className}`} viewBox="0 0 64 64" aria-hidden="true">
      <g stroke={INK} stroke-width="3" stroke-linejoin="round" stroke-linecap="round">
        {ICONS[name]}
      </g>
    </svg>
  );
}
