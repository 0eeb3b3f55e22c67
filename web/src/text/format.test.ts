import { expect, test } from "vitest";
import { coins, inCredits, short } from "./format";

test("an amount keeps all its digits and loses its zeros", () => {
  expect(coins(10n ** 15n, 18)).toBe("0.001");
  expect(coins(12_345n * 10n ** 18n + 1n, 18)).toBe("12,345.000000000000000001");
  expect(coins(2_500_000n, 6)).toBe("2.5");
  expect(coins(0n, 6)).toBe("0");
  expect(coins(7n, 0)).toBe("7");
});

test("an amount can be cut off, never rounded up", () => {
  expect(coins(1_999_999n, 6, 2)).toBe("1.99");
  expect(coins(9n, 6, 4)).toBe("0");
});

test("one credit is one credit", () => {
  expect([0, 1, 1200].map(inCredits)).toEqual(["0 credits", "1 credit", "1,200 credits"]);
});

test("a short address has its beginning and its end", () => {
  expect(short("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")).toBe("0x7099…79C8");
});
