/** The field for a number of credits, with what is wrong with it said beside it. */
import { useId, useState } from "preact/hooks";
import { credits } from "../session";
import { text } from "../text";
import { inCredits } from "../text/format";

const FIRST_STAKE = "10";

export type Stake = {
  entered: string;
  set: (entered: string) => void;
  value: number;
  complaint: string;
  /** Whether it will do; shows the complaint if it won't. */
  check: () => boolean;
};

/** A number of credits; `limited` to those that the player has. */
export function useStake({ first = FIRST_STAKE, limited = true } = {}): Stake {
  const [entered, setEntered] = useState(first);
  const [isChecked, setIsChecked] = useState(false);
  const value = /^\d{1,9}$/.test(entered) ? Number(entered) : 0;
  const most = (limited && credits.value?.available) || Number.POSITIVE_INFINITY;
  const wrong = value < 1 ? text.lobby.tooLow : value > most ? text.lobby.tooHigh : "";
  const check = () => {
    setIsChecked(true);
    return wrong === "";
  };
  return { entered, set: setEntered, value, complaint: isChecked ? wrong : "", check };
}

type Props = { stake: Stake; label?: string; hint?: string };

export function StakeField({ stake, label = text.lobby.stake, hint }: Props) {
  const id = useId();
  const now = credits.value;
  const available = now ? text.lobby.stakeHint(inCredits(now.available)) : "\u00a0";
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        inputMode="numeric"
        autocomplete="off"
        value={stake.entered}
        aria-invalid={stake.complaint !== ""}
        aria-describedby={`${id}-hint`}
        onInput={(event) => stake.set(event.currentTarget.value.trim())}
      />
      <p class={stake.complaint ? "hint refusal" : "hint"} id={`${id}-hint`} role="status">
        {stake.complaint || hint || available}
      </p>
    </div>
  );
}
