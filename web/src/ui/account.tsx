/** An address as a face and its first and last digits. */
import { player } from "../session";
import { text } from "../text";
import { short } from "../text/format";
import { Face } from "./face";

type Props = { address: string; size?: number };

export function Account({ address, size = 28 }: Props) {
  return (
    <span class="account" title={address}>
      <Face address={address} size={size} />
      <span class="address">{short(address)}</span>
    </span>
  );
}

/** An address that leads to its profile, and says if it is yours. */
export function AccountLink({ address, size }: Props) {
  return (
    <a class="account-link" href={`/player/${address}`}>
      <Account address={address} {...(size ? { size } : {})} />
      {address === player.value && <span class="tag">{text.site.you}</span>}
    </a>
  );
}
