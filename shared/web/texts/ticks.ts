/** Returns round values from 0 to `most` for the marks of an axis, about `count` of them. All are whole numbers. */
export function ticks(most: number, count: number): readonly number[] {
  const rough = most / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = Math.max(1, [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? 10 * power);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
}
