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
    profile: "Profile",
    verify: "Verify",
  },
  footer: {
    api: "API",
    console: "Console",
    fair: "Play is for testnet credits, which are worth nothing but glory.",
  },
  loading: "Loading…",
  broken: {
    title: "This page could not be loaded",
    hint: "The connection may have been lost, or the site may have changed meanwhile.",
    again: "Try again",
  },
};
