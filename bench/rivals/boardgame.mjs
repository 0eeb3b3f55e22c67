// The same movements as a boardgame.io game: who wins and what a win does come from the engine's own
// table, which `bench/rivals/__init__.py` writes into the input. Prints movements and seconds.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { Client } = createRequire(import.meta.url)("boardgame.io/client");
const { matches, table, cost } = JSON.parse(readFileSync(process.argv[2], "utf8"));

const ape = () => ({ health: 10, alphas: 0, wilds: 0, potions: 0, streak: 0, rounds: 0 });

function win(winner, won, loser, lost, effect) {
  loser.alphas -= cost[lost][0];
  loser.wilds -= cost[lost][1];
  winner.alphas -= cost[won][0];
  winner.wilds -= cost[won][1];
  const drained = Math.min(effect.drain, loser.health);
  loser.health = Math.max(0, loser.health - effect.damage - drained);
  winner.health = Math.min(10, winner.health + effect.heal + drained);
  if (loser.alphas > 0) {
    loser.alphas -= effect.steal_alpha + effect.destroy_alpha;
    winner.alphas += effect.steal_alpha;
  }
  if (loser.wilds > 0) loser.wilds -= effect.destroy_wild;
  loser.wilds += effect.loser_wilds;
  winner.alphas += effect.alphas;
  winner.wilds += effect.wilds;
  winner.potions += effect.potions;
  loser.streak = 0;
  winner.streak += 1;
  if (winner.streak === 3) {
    winner.streak = 0;
    winner.potions += 1;
  }
}

function resolve(G) {
  const [a, b] = [G.chosen["0"], G.chosen["1"]];
  const [outcome, effect] = table[`${G.phases[G.movement]} ${a} ${b}`];
  if (outcome === "a") win(G.apes[0], a, G.apes[1], b, effect);
  if (outcome === "b") win(G.apes[1], b, G.apes[0], a, effect);
  if (outcome === "tie") for (const each of G.apes) each.streak = 0;
  const dead = G.apes.findIndex((each) => each.health === 0);
  if (dead >= 0) {
    G.apes[1 - dead].rounds += 1;
    for (const each of G.apes) each.health = 10;
  }
  G.movement += 1;
  G.chosen = {};
}

const game = (phases) => ({
  setup: () => ({ apes: [ape(), ape()], chosen: {}, movement: 0, phases }),
  turn: { activePlayers: { all: "choosing" } },
  moves: {
    choose: ({ G, playerID }, choice) => {
      G.chosen[playerID] = choice;
      if ("0" in G.chosen && "1" in G.chosen) resolve(G);
    },
  },
});

let movements = 0;
let seconds = 0;
for (const { phases, choices } of matches) {
  const client = Client({ game: game(phases), numPlayers: 2, debug: false });
  client.start();
  const started = process.cpuUsage();
  for (const [a, b] of choices) {
    client.updatePlayerID("0");
    client.moves.choose(a);
    client.updatePlayerID("1");
    client.moves.choose(b);
  }
  const used = process.cpuUsage(started);
  seconds += (used.user + used.system) / 1e6;
  movements += client.getState().G.movement;
  client.stop();
}
console.log(JSON.stringify({ movements, seconds }));
