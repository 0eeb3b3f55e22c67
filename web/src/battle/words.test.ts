import { expect, test } from "vitest";
import { GOD_V1 } from "../engine/ruleset";
import { advanced, type Course, UNTOLD } from "./course";
import type { LiveEvent, LiveState } from "./live";
import { forecast, toldInWords } from "./words";

const NAMES = { a: "You", b: "Gorilla" };
const APE = { health: 10, alphas: 0, wilds: 0, potions: 0, streak: 0, rounds: 0, misses: 0 };
const STATE: LiveState = {
  round: 1,
  phase: "sun",
  movement: 5,
  in_phase: 2,
  cycle: 1,
  sudden_death: false,
  outcome: null,
  apes: { a: APE, b: APE },
};

function told(event: LiveEvent, before: LiveState = STATE): string {
  const course: Course = advanced({ ...UNTOLD, state: before }, event);
  const last = course.told.at(-1);
  return last ? toldInWords(last, NAMES, "a") : "";
}

function movement(after: Partial<LiveState>): LiveEvent {
  const rock = { move: "rock", tribute: null } as const;
  const paper = { move: "paper", tribute: "wilds" } as const;
  return {
    type: "movement",
    n: 9,
    at: "",
    movement: 5,
    a: rock,
    b: paper,
    state: { ...STATE, movement: 6, in_phase: 3, outcome: "b", ...after },
  };
}

test.each([
  ["opening", "rock", "+1 alpha"],
  ["sun", "rock", "2 damage, steals 1 alpha"],
  ["water", "paper", "3 damage, heals you\u00a01"],
  ["moon", "scissors", "2 damage, +1 alpha"],
  ["earth", "rock", "2 damage, breaks 1 alpha, breaks 1 wild"],
  ["sun", "alpha", "3 damage"],
  ["water", "alpha", "heals you\u00a03"],
  ["moon", "alpha", "3 damage, keeps the alpha, breaks 1 wild"],
  ["earth", "alpha", "3 damage, breaks 1 wild"],
  ["sun", "wild", "keeps the wild, steals 1 alpha"],
  ["water", "wild", "drains 3 health"],
  ["moon", "wild", "3 damage, keeps the wild"],
  ["earth", "wild", "takes the alpha, +1 potion"],
] as const)("under %s, %s is said to do what the rules' table says", (phase, move, said) => {
  expect(forecast(phase, move, GOD_V1).effect).toBe(said);
});

test("a core move is said to beat a wild, but not in the opening, where there is none", () => {
  expect(forecast("moon", "rock", GOD_V1).beats).toEqual(["scissors", "wild"]);
  expect(forecast("opening", "rock", GOD_V1).beats).toEqual(["scissors"]);
});

test("a movement is told with its choices, its winner and what changed", () => {
  const apes = { a: { ...APE, health: 8, wilds: 1 }, b: { ...APE, potions: 1 } };
  expect(told(movement({ apes }))).toBe(
    "You: Rock, Gorilla: Paper with a tribute of 2 wilds. " +
      "Gorilla wins: you −2 health, +1 wild; Gorilla +1 potion.",
  );
});

test("a movement that ends a round tells who won it and not the next round's health", () => {
  const before = { ...STATE, apes: { a: { ...APE, health: 2 }, b: APE } };
  const apes = { a: { ...APE, wilds: 1 }, b: { ...APE, rounds: 1 } };
  const event = movement({ apes, round: 2, in_phase: 1, phase: "moon" });
  const line = told(event, before);
  expect(line).toContain("Gorilla wins the round, 1 to 0. The Moon shines.");
  expect(line).not.toContain("health");
});

test("what an ape does besides is told in its own person", () => {
  const potion = { type: "potion", n: 9, at: "", state: STATE } as const;
  expect(told({ ...potion, ape: "a" })).toBe("You drink a potion: +2 health.");
  expect(told({ ...potion, ape: "b" })).toBe("Gorilla drinks a potion: +2 health.");
});
