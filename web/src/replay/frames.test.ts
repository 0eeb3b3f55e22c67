import { expect, test } from "vitest";
import example from "../../../docs/fairness-example.json";
import { Fault } from "../verify/fault";
import { prove } from "./proof";

test("the example of the documents is proved, and has a frame for all that is told and its end", async () => {
  const { found, frames, header } = await prove(example);
  expect(found).not.toBeInstanceOf(Fault);
  expect(header?.stake).toBe("100");
  expect(frames.map(({ told }) => told.at(-1)?.event.type)).toEqual([
    "start",
    "movement",
    "movement",
    "movement",
    "movement",
    "resign",
    "ended",
  ]);
  expect(frames.at(-1)?.end).toMatchObject({ status: "won", winner: "a", ended_by: "resigned" });
});

test("a bent transcript shows the match up to what is off, and no end", async () => {
  const bent = structuredClone(example);
  Object.assign(bent.events[5]?.a ?? {}, { move: "paper" });
  const { found, frames } = await prove(bent);
  expect(found).toMatchObject({ where: "events[5].a.move" });
  expect(frames.at(-1)?.end).toBeNull();
});
