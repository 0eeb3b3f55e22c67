/** A few notes, off until they are asked for. */

import { signal } from "@preact/signals";

const KEY = "bas:sound";

/** Notes in Hz, one after the other. */
const TUNES = {
  lock: [220],
  drink: [330, 440, 550],
  win: [440, 660],
  loss: [330, 220],
  tie: [294],
  victory: [440, 554, 659, 880],
} satisfies Record<string, readonly number[]>;

export type Sound = keyof typeof TUNES;

const NOTE_SECONDS = 0.13;
const LOUDNESS = 0.08;

/** Whether sound is on; the browser remembers it. */
export const isSoundOn = signal(localStorage.getItem(KEY) === "on");

let context: AudioContext | null = null;

/** Switch sound on or off. */
export function toggleSound(): void {
  isSoundOn.value = !isSoundOn.value;
  localStorage.setItem(KEY, isSoundOn.value ? "on" : "off");
  play("lock");
}

/** Play a sound, if sound is on. */
export function play(sound: Sound): void {
  if (!isSoundOn.peek()) return;
  context ??= new AudioContext();
  const start = context.currentTime;
  TUNES[sound].forEach((frequency, n) => {
    if (context) note(context, frequency, start + n * NOTE_SECONDS);
  });
}

function note(audio: AudioContext, frequency: number, start: number): void {
  const oscillator = audio.createOscillator();
  const volume = audio.createGain();
  oscillator.type = "triangle";
  oscillator.frequency.value = frequency;
  volume.gain.setValueAtTime(LOUDNESS, start);
  volume.gain.exponentialRampToValueAtTime(0.001, start + 2 * NOTE_SECONDS);
  oscillator.connect(volume).connect(audio.destination);
  oscillator.start(start);
  oscillator.stop(start + 2 * NOTE_SECONDS);
}
