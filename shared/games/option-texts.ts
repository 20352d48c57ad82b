import { type Game, withoutVersion } from "./game.ts";

/** Returns the options of a game for its rules, one in each line. */
export function optionLines({ info }: Game): string {
  const options = Object.entries(info.options ?? {});
  if (options.length === 0) return "This game has no options.";
  return ["Options:", ...options.map(([name, meaning]) => `- ${name}: ${meaning}`)].join("\n");
}

/** Returns the options of several games in one line, for the description of a tool. */
export const optionsInWords = (games: readonly Game[]): string =>
  games
    .flatMap(({ id, info }) => {
      const options = Object.entries(info.options ?? {}).map(([name, meaning]) => `${name} (${meaning})`);
      return options.length === 0 ? [] : [`${withoutVersion(id)}: ${options.join(", ")}`];
    })
    .join(". ");

/** Returns the notations of moves with examples, for games that have one, as an addition to a description. */
export const notationsInWords = (games: readonly Game[]): string =>
  games.flatMap(({ id, info }) => (info.notation ? [`; in ${withoutVersion(id)} ${info.notation}`] : [])).join("");
