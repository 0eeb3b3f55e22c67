/** Somebody in a sentence: the player, or one of the apes by its name. */
type Who = { name: string; isYou: boolean };

const plural = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`;
const verb = ({ isYou }: Who, you: string, other: string) => (isYou ? you : other);
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const signed = (n: number) => (n > 0 ? `+${n}` : `−${-n}`);

export const battle = {
  title: "Battle",
  table: "The table",
  apes: { a: "Chimp", b: "Gorilla" },
  you: "You",
  houseApe: (name: string) => `House ape ${capital(name)}`,
  moods: {
    idle: "thinking",
    locked: "locked in",
    hit: "hit",
    winner: "winning",
    asleep: "missed it",
  },

  moves: { rock: "Rock", paper: "Paper", scissors: "Scissors", wild: "Wild", alpha: "Alpha" },
  missed: "Missed",
  tribute: {
    legend: "Tribute",
    hint: "Win the movement with a tribute, and earn a potion. It is spent either way.",
    none: "None",
    wilds: "2 wilds",
    alphas: "3 alphas",
    label: { none: "None: no tribute", wilds: "Tribute of 2 wilds", alphas: "Tribute of 3 alphas" },
    with: { wilds: "with a tribute of 2 wilds", alphas: "with a tribute of 3 alphas" },
  },
  influences: { opening: "Opening", sun: "Sun", water: "Water", moon: "Moon", earth: "Earth" },
  things: {
    health: "Health",
    alphas: "Alphas",
    wilds: "Wilds",
    potions: "Potions",
    streak: "Streak",
    rounds: "Rounds won",
  },

  /** What a win does, in a few words; the counts are those of the rules' tables. */
  effect: {
    damage: (n: number) => `${n} damage`,
    heal: (n: number) => `heals you\u00a0${n}`,
    drain: (n: number) => `drains ${n} health`,
    alphas: (n: number) => `${signed(n)} alpha`,
    wilds: (n: number) => `${signed(n)} wild`,
    potions: (n: number) => `${signed(n)} potion`,
    steal_alpha: (n: number) => `steals ${plural(n, "alpha", "alphas")}`,
    destroy_alpha: (n: number) => `breaks ${plural(n, "alpha", "alphas")}`,
    destroy_wild: (n: number) => `breaks ${plural(n, "wild", "wilds")}`,
    loser_wilds: (n: number) => `loser ${signed(n)} wild`,
    none: "nothing",
    keepsAlpha: "keeps the alpha",
    keepsWild: "keeps the wild",
    takesAlpha: "takes the alpha",
  },
  beats: (moves: string) => `beats ${moves}`,

  status: {
    round: (round: number) => (round === 0 ? "Warm-up" : `Round ${round}`),
    score: (own: number, other: number) => `${own} : ${other}`,
    inPhase: (n: number, of: number) => `${n} of ${of}`,
    cycle: (n: number, of: number) => `cycle ${n}/${of}`,
    suddenDeath: "sudden death",
    seconds: (n: number) => `${n} s`,
    timer: "Time left",
  },
  connection: {
    connecting: "Connecting…",
    live: "Live",
    lost: "Connection lost. Trying again…",
    over: "Match over",
  },
  stage: {
    choose: "Choose your move",
    waitingForOther: (name: string) => `Waiting for ${name}…`,
    revealing: "Both locked in. Revealing…",
    otherBrowser: "You locked in from another browser. Only there can it be revealed.",
    watching: "You are watching this match",
    ended: "The match is over",
  },
  card: {
    empty: "Not yet",
    down: "Locked in",
    of: (who: string, what: string) => `${who}: ${what}`,
  },

  lockIn: "Lock in",
  lockInMove: (move: string, tribute: string) => `${move}${tribute ? ` ${tribute}` : ""}`,
  lockedIn: "Locked in",
  drink: "Drink a potion",
  resign: "Resign",
  sound: { on: "Sound on", off: "Sound off" },
  keys: {
    title: "Keys",
    rows: [
      ["1 – 5", "Rock, Paper, Scissors, Wild, Alpha"],
      ["T", "next tribute"],
      ["L", "lock in"],
      ["D", "drink a potion"],
    ] as const,
  },
  whyNot: {
    match_over: "the match is over",
    core_only: "not in the opening",
    not_held: "not enough in hand",
    needsWild: "you hold no wild",
    needsAlpha: "you hold no alpha",
    needsMore: {
      wilds: "takes 2 wilds, besides the move",
      alphas: "takes 3 alphas, besides the move",
    },
    potion_in_opening: "not in the opening",
    no_potion: "you hold none",
    full_health: "you are at full health",
    lockedIn: "you have locked in",
  },
  resigning: {
    title: "Give this match up?",
    text: (stake: string) =>
      stake === "0"
        ? "The match ends now, and you lose it."
        : `The match ends now, and your stake of ${stake} goes to the other ape.`,
    yes: "Give up",
    no: "Play on",
  },

  log: {
    title: "What happened",
    empty: "Nothing yet.",
    start: "The match begins: three movements of opening.",
    played: (who: Who, move: string, tribute: string) =>
      `${who.name}: ${move}${tribute ? ` ${tribute}` : ""}`,
    missed: (who: Who) => `${who.name}: missed`,
    win: (who: Who) => `${who.name} ${verb(who, "win", "wins")}`,
    tie: "Tie",
    void: "Nobody played",
    change: (who: Who, changes: string) => `${verb(who, "you", who.name)} ${changes}`,
    counts: {
      health: (n: number) => `${signed(n)} health`,
      alphas: (n: number) => `${signed(n)} ${Math.abs(n) === 1 ? "alpha" : "alphas"}`,
      wilds: (n: number) => `${signed(n)} ${Math.abs(n) === 1 ? "wild" : "wilds"}`,
      potions: (n: number) => `${signed(n)} ${Math.abs(n) === 1 ? "potion" : "potions"}`,
    },
    roundWon: (who: Who, own: number, other: number) =>
      `${who.name} ${verb(who, "win", "wins")} the round, ${own} to ${other}.`,
    influence: {
      sun: "The Sun burns.",
      water: "The Water rises.",
      moon: "The Moon shines.",
      earth: "The Earth shakes.",
    },
    suddenDeath: "Level after the last cycle: sudden death.",
    potion: (who: Who) => `${who.name} ${verb(who, "drink", "drinks")} a potion: +2 health.`,
    resigned: (who: Who) => `${who.name} ${verb(who, "give", "gives")} the match up.`,
    voided: (reason: string) => `An operator stopped the match: ${reason}`,
    ended: (who: Who) => `${who.name} ${verb(who, "win", "wins")} the match!`,
    noWinner: {
      draw: "The match is a draw.",
      abandoned: "The match was abandoned.",
      cancelled: "The match was called off.",
    },
  },

  waiting: {
    title: "Waiting for an opponent",
    invited: "Only somebody with this link can take the other seat.",
    open: "Anybody in the lobby can take the other seat. Or send a friend this link:",
    link: "Invitation link",
    copy: "Copy the link",
    copied: "Copied",
    qr: "The invitation link as a QR code",
    cancel: "Call it off",
    stake: (stake: string) => `${stake} credits each`,
  },
  joining: {
    invited: "You are invited to a battle",
    title: "A seat is free",
    challenges: "challenges you",
    text: "Take the other seat for the same stake. The match starts at once.",
    short: (has: string) => `You have ${has}. Deposit what is missing, then open this link again.`,
    join: "Join the match",
    running: "This match is for invited players, and it has begun.",
  },
  gone: {
    title: "This match never began",
    expired: "Nobody came in time. The stake is back.",
    cancelled: "It was called off. The stake is back.",
    lobby: "To the lobby",
  },
  signIn: "Connect a wallet to see this match.",

  end: {
    won: "You win!",
    lost: "You lose",
    wins: (name: string) => `${name} wins`,
    draw: "A draw",
    abandoned: "Abandoned",
    cancelled: "Stopped",
    by: {
      rounds: "Three rounds were won.",
      missed: "Three movements in a row were missed.",
      resigned: "The other side gave the match up.",
      movements: "The last movement that a match may have was played.",
      voided: "An operator stopped it, and both stakes are back.",
    } as Record<string, string>,
    youResigned: "You gave the match up.",
    payout: (amount: string) => `${amount} credits are yours`,
    pot: (pot: string, fee: string) => `pot ${pot}, house fee ${fee}`,
    back: (stake: string) => `Your stake of ${stake} is back`,
    lostStake: (stake: string) => `Your stake of ${stake} is gone`,
    practice: "It was practice: nothing was at stake",
    rematch: {
      offer: "Rematch",
      accept: "Accept the rematch",
      practice: "Practise again",
    },
    replay: "Watch the replay",
    verify: "Verify this match",
    share: "Share",
    shared: "Link copied",
    shareText: "Watch this battle of apes:",
  },
};
