import { expect, test } from "vitest";
import { advanced, UNTOLD } from "./course";
import type { LiveEvent } from "./live";

const START: LiveEvent = { type: "start", n: 0, at: "", state: UNTOLD.state };
const LOCKED: LiveEvent = {
  type: "locked",
  n: 1,
  at: "",
  ape: "a",
  movement: 1,
  commitment: "c0ffee",
};
const MOVEMENT: LiveEvent = {
  type: "movement",
  n: 2,
  at: "",
  movement: 1,
  a: { move: "rock", tribute: null },
  b: null,
  state: { ...UNTOLD.state, movement: 2, outcome: "a" },
};

test("a commitment holds until its movement is over", () => {
  const locked = [START, LOCKED].reduce(advanced, UNTOLD);
  expect(locked.locks).toEqual({ a: "c0ffee" });
  expect(advanced(locked, MOVEMENT).locks).toEqual({});
});

test("a replaced commitment is the one that counts", () => {
  const again = { ...LOCKED, commitment: "decaf" };
  expect([START, LOCKED, again].reduce(advanced, UNTOLD).locks).toEqual({ a: "decaf" });
});

test("each movement starts with locking in, even before the clock is told", () => {
  const clock = { type: "clock", movement: 1, stage: "reveal", deadline: "x" } as const;
  const course = [START, LOCKED, clock, MOVEMENT].reduce(advanced, UNTOLD);
  expect(course.stage).toBe("lock");
});

test("an event is told with the state that it came upon", () => {
  const course = [START, LOCKED, MOVEMENT].reduce(advanced, UNTOLD);
  expect(course.told.map(({ event }) => event.type)).toEqual(["start", "movement"]);
  expect(course.told[1]?.before.movement).toBe(1);
  expect(course.state.movement).toBe(2);
});

test("nothing runs any more once a match has ended", () => {
  const ended = { type: "ended", n: 3, at: "", status: "won", winner: "a", ended_by: "missed" };
  const course = [START, MOVEMENT, ended as LiveEvent].reduce(advanced, UNTOLD);
  expect(course.end?.winner).toBe("a");
  expect(course.deadline).toBeNull();
});
