/** A small ape's face, drawn from an address: the same for the same address, on every page. */

const FURS = [
  "#8a5a3c",
  "#5d4a6e",
  "#b5793a",
  "#3f5f6b",
  "#9a4f5e",
  "#6b7a3a",
  "#4d4d66",
  "#a06a8c",
];
const SKINS = ["#f2c9a1", "#e3b18a", "#d7c3e8", "#ffd9b8", "#c9dbe8", "#e9d29b"];
const GROUNDS = [
  "#ffd23f",
  "#5ccfff",
  "#c9b4ff",
  "#a5d66a",
  "#ff9d7a",
  "#7ee0c0",
  "#ffb3d1",
  "#f7efe0",
];

type Props = { address: string; size?: number };

export function Face({ address, size = 32 }: Props) {
  const digits = Number.parseInt(address.slice(2, 10), 16) || 0;
  const pick = (values: string[], shift: number) => values[(digits >>> shift) % values.length];
  const fur = pick(FURS, 0);
  const eyes = (digits >>> 12) % 4;
  const mouth = (digits >>> 16) % 4;
  return (
    <svg class="face" viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <rect width="32" height="32" rx="8" fill={pick(GROUNDS, 4)} />
      <circle cx="6.5" cy="16" r="4" fill={fur} />
      <circle cx="25.5" cy="16" r="4" fill={fur} />
      <path d="M6 17a10 11 0 0 1 20 0v7a6 6 0 0 1-6 6h-8a6 6 0 0 1-6-6z" fill={fur} />
      <path
        d="M9 16.5c0-4 6-4.5 7-1.5c1-3 7-2.5 7 1.5c0 2-1 3 0 5c1 4-2.5 7-7 7s-8-3-7-7c1-2 0-3 0-5z"
        fill={pick(SKINS, 8)}
      />
      <g fill="#1d1424">
        {[12.5, 19.5].map((x) =>
          eyes === 3 ? (
            <rect key={x} x={x - 2} y="16.3" width="4" height="1.6" rx=".8" />
          ) : (
            <circle key={x} cx={x} cy="17" r={[1.5, 2, 1.2][eyes]} />
          ),
        )}
      </g>
      <path
        d={["M12 24q4 3 8 0", "M13 25h6", "M12 25.5q4-3 8 0", "M13 24q3 4 6 0z"][mouth]}
        fill={mouth === 3 ? "#1d1424" : "none"}
        stroke="#1d1424"
        stroke-width="1.5"
        stroke-linecap="round"
      />
    </svg>
  );
}
