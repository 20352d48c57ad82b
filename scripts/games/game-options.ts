/** Returns the options of a game from `name=value` pairs of the command line. */
export function optionsOf(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", ...rest] = pair.split("=");
      const text = rest.join("=");
      return [name, /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text];
    }),
  );
}
