export const site = {
  name: "Block Ape Scissors",
  skip: "Skip to the page",
  menu: "Pages",
  pages: {
    home: "Home",
    lobby: "Lobby",
    credits: "Credits",
    leaderboard: "Leaderboard",
    rules: "Rules",
    player: "Profile",
    match: "Match",
    replay: "Replay",
    verify: "Verify a match",
  },
  footer: {
    label: "More",
    api: "API",
    console: "Console",
    fair: "Played for testnet credits, on a chain, with nothing up our sleeves.",
  },
  balance: {
    label: (available: string) => `${available} credits available`,
    inPlay: (credits: string) => `${credits} in play`,
    pending: (credits: string) => `${credits} on their way out`,
    unit: "credits",
  },
  credits: (count: number, shown: string) => (count === 1 ? "1 credit" : `${shown} credits`),
  status: {
    label: "Service status",
    offline: "You are offline. The page goes on as soon as the connection is back.",
    service: "The service has trouble at the moment. Matches are kept; some things may be slow.",
    chain: (blocks: string) =>
      `The chain is being read ${blocks} blocks behind: deposits and withdrawals take longer.`,
    chainStopped: "The chain has not been read for a while: deposits and withdrawals wait.",
  },
  loading: "Loading…",
  close: "Close",
  more: "Show more",
  copy: "Copy",
  copied: "Copied",
  you: "you",
  when: {
    now: "just now",
    minutes: (n: number) => (n === 1 ? "a minute ago" : `${n} minutes ago`),
    hours: (n: number) => (n === 1 ? "an hour ago" : `${n} hours ago`),
    days: (n: number) => (n === 1 ? "yesterday" : `${n} days ago`),
  },
  broken: {
    title: "This page could not be loaded",
    hint: "The connection may have been lost, or the site may have changed meanwhile.",
    again: "Try again",
  },
  signedOut: {
    title: "Connect a wallet first",
    hint: "Signing in is one signature. It costs nothing and moves nothing.",
  },
  hero: {
    title: "Two apes. One throw.",
    lead: "Rock, paper, scissors, wild or alpha: chosen unseen, revealed at once, under an influence that neither side can bend.",
    play: "Play now",
    rules: "How it works",
    points: [
      [
        "Hidden, then proven",
        "Choices are locked in as fingerprints and opened together. Not even the house can peek.",
      ],
      [
        "Four influences",
        "Sun burns, Water heals, Moon keeps, Earth breaks. The next one is drawn by chance that both of you can check.",
      ],
      [
        "Credits on a chain",
        "Deposit on a testnet, stake, win, and take it out again with a voucher that anyone may redeem.",
      ],
    ],
  },
};
