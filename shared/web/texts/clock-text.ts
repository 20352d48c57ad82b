/** Clocks below this time are shown with tenths of a second. */
const TENTHS_BELOW_MS = 20_000;

/** Returns the time until the text of a running clock changes: at most a second, or a tenth while tenths are shown. */
export const clockStepMs = (ms: number): number => (ms % (ms < TENTHS_BELOW_MS ? 100 : 1_000)) + 1;

/** Returns the time on a clock, for example `1:05`, `1:02:09` or `0:09.5`. Parts of a second are rounded down, so that 0:00 is shown at the end only. */
export function clockInWords(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  const minutes = String(Math.floor(seconds / 60) % 60);
  const rest = String(seconds % 60).padStart(2, "0");
  const tenths = ms < TENTHS_BELOW_MS ? `.${Math.floor((ms % 1000) / 100)}` : "";
  return `${hours > 0 ? `${hours}:${minutes.padStart(2, "0")}` : minutes}:${rest}${tenths}`;
}
