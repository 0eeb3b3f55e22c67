export const rules = {
  title: "How it works",
  lead: "Two apes fight rounds. In every movement both choose at once, unseen. First to win three rounds wins the match.",
  beats: {
    title: "What beats what",
    hint: "Your move is on the left; the other ape’s is above.",
    corner: "You play",
    outcome: { a: "win", b: "loss", tie: "tie" },
    wild: "A wild beats an alpha and loses to everything else.",
    alpha: "An alpha beats the core moves and loses to a wild.",
    held: "Wilds and alphas can only be played while you hold them. They are used up, unless the influence says otherwise; in a tie they go back.",
  },
  course: {
    title: "The course of a match",
    steps: [
      [
        "Opening",
        "Three movements with core moves only: the winner gains an alpha, the loser a wild, and nobody is hurt.",
      ],
      [
        "Influences",
        "Then the match is under Sun, Water, Moon or Earth, five movements each, in an order drawn by chance. All four come before one comes again.",
      ],
      [
        "Rounds",
        "A round begins at ten health and ends when an ape has none. What you hold stays with you.",
      ],
      [
        "The end",
        "Three rounds won, and the pot less the house’s fee is yours. A draw gives both stakes back.",
      ],
    ],
  },
  influences: {
    title: "What a win does",
    hint: "Under each influence, for the winner’s move. The loser with a core move gains a wild.",
    core: "Core beats core or wild",
    alpha: "Alpha beats core",
    wild: "Wild beats alpha",
    mood: {
      sun: "Sun burns and steals.",
      water: "Water hits hard and heals.",
      moon: "Moon gives alphas and keeps what was played.",
      earth: "Earth breaks what the other holds.",
    },
  },
  around: {
    title: "Around the movement",
    items: [
      [
        "Potion",
        "Heals two, at any time while a round runs. Three wins in a row earn one, and so does winning with a tribute.",
      ],
      [
        "Tribute",
        "Two wilds or three alphas, offered with your move. Win the movement and it becomes a potion. It is spent either way.",
      ],
      [
        "Timer",
        "Lock in within the time, then reveal. Your browser reveals for you. Who misses three movements in a row loses the match.",
      ],
      [
        "Fair play",
        "Choices are committed to as SHA-256 fingerprints, and the next influence is drawn from a secret that was fixed before the match and the salts of both players. Every match can be verified.",
      ],
    ],
  },
};
