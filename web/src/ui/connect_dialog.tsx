/** The dialog to choose a wallet and sign in. */
import { useEffect } from "preact/hooks";
import { go, here } from "../router";
import { text } from "../text";
import { connect, isChoosing } from "../wallet/connection";
import { choices, type Wallet } from "../wallet/wallets";
import { Dialog } from "./dialog";
import { useAction } from "./hooks";
import { Refusal } from "./parts";

const words = text.wallet;

export function ConnectDialog() {
  return isChoosing.value ? <Choices /> : null;
}

function Choices() {
  const { busy, error, run } = useAction();
  const found = choices(words.injected);
  const close = () => {
    isChoosing.value = false;
  };
  // Signing in may take its time: load what it needs while the player reads.
  useEffect(() => void import("../wallet/siwe"), []);
  const choose = (wallet: Wallet) =>
    run(async () => {
      await connect(wallet);
      close();
      if (here.value.pathname === "/") go("/lobby");
    });
  return (
    <Dialog title={words.choose} onClose={close}>
      <p>{words.chooseHint}</p>
      {found.length === 0 && (
        <div class="empty">
          <h3>{words.none}</h3>
          <p>{words.noneHint}</p>
        </div>
      )}
      <ul class="choices">
        {found.map((wallet) => (
          <li key={wallet.info.uuid}>
            <button type="button" class="choice" disabled={busy} onClick={() => choose(wallet)}>
              {wallet.info.icon && <img src={wallet.info.icon} alt="" width="32" height="32" />}
              {wallet.info.name}
            </button>
          </li>
        ))}
      </ul>
      <p class="progress" role="status">
        {busy ? words.signing : ""}
      </p>
      <Refusal>{error}</Refusal>
    </Dialog>
  );
}
