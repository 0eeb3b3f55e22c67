/** Numbers, amounts and times as people read them. */
import { text } from ".";

const numbers = new Intl.NumberFormat("en");
const dates = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

/** 12,345 */
export const number = (value: number | bigint): string => numbers.format(value);

/** "1 credit", "12,345 credits" */
export const inCredits = (value: number): string => text.site.credits(value, number(value));

/** 0x7099…79C8 */
export const short = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`;

/** 3 Dec, 14:05 */
export const date = (iso: string): string => dates.format(new Date(iso));

/** How long ago something was, in words. */
export function ago(iso: string): string {
  const minutes = Math.floor((Date.now() - Date.parse(iso)) / 60_000);
  const words = text.site.when;
  if (minutes < 1) return words.now;
  if (minutes < 60) return words.minutes(minutes);
  if (minutes < 24 * 60) return words.hours(Math.floor(minutes / 60));
  return words.days(Math.floor(minutes / (24 * 60)));
}

/** An amount of a coin in its smallest unit, as a decimal number; cut off after `places`. */
export function coins(amount: bigint, decimals: number, places = decimals): string {
  const digits = amount.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const rest = digits
    .slice(digits.length - decimals)
    .slice(0, places)
    .replace(/0+$/, "");
  return number(BigInt(whole)) + (rest ? `.${rest}` : "");
}
