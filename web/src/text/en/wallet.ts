export const wallet = {
  connect: "Connect wallet",
  choose: "Choose a wallet",
  chooseHint: "You prove by a signature that the account is yours. It costs nothing.",
  none: "No wallet was found in this browser.",
  noneHint:
    "Install a browser wallet such as MetaMask, Rabby or Coinbase Wallet, and load this page again.",
  injected: "Browser wallet",
  signing: "Confirm in your wallet…",
  noAccount: "The wallet named no account. Unlock it and try again.",
  statement: "Sign in to Block Ape Scissors.",
  account: "Your account",
  profile: "Profile",
  signOut: "Sign out",
  reconnect: "Connect your wallet again to go on.",
  mismatch: {
    account: (now: string) => `Your wallet is on ${now} now. You are still signed in as before.`,
    signIn: "Sign in with it",
    network: (name: string) => `Your wallet is on another network than ${name}.`,
    switch: "Switch network",
  },
  failed: (reason: string) => `The wallet said no. ${reason}`.trim(),
  /** By the codes of EIP-1193 and EIP-1474. */
  errors: {
    "4001": "You declined in your wallet. Nothing has happened; try again whenever you like.",
    "4100": "The wallet doesn’t let this site use that account. Connect it again.",
    "4900": "The wallet is not connected to any network.",
    "4902": "The wallet doesn’t know this network, and could not add it.",
    "-32002": "The wallet is already asking you something: open it and answer.",
    "-32000": "The account has too little to pay for this transaction and its gas.",
    "-32003": "The account has too little to pay for this transaction and its gas.",
  } as Record<string, string>,
  dev: {
    name: "Dev wallet",
    choose: "Which dev account?",
    hint: "Accounts of the local chain, with test money. A private window can be a second player.",
  },
};
