import { type Game, withoutVersion } from "./game.ts";

/** The options of a game, one a line, for its rules. */
export function optionLines({ info }: Game): string {
  const options = Object.entries(info.options ?? {});
  if (options.length === 0) return "This game has no options.";
  return ["Options:", ...options.map(([name, meaning]) => `- ${name}: ${meaning}`)].join("\n");
}

/** The options of several games in one line, for the description of a tool. */
export const optionsInWords = (games: readonly Game[]): string =>
  games
    .flatMap(({ id, info }) => {
      const options = Object.entries(info.options ?? {}).map(([name, meaning]) => `${name} (${meaning})`);
      return options.length === 0 ? [] : [`${withoutVersion(id)}: ${options.join(", ")}`];
    })
    .join(". ");

/** The notations of moves of the games that have one, with examples, to be appended to a description. */
export const notationsInWords = (games: readonly Game[]): string =>
  games.flatMap(({ id, info }) => (info.notation ? [`; in ${withoutVersion(id)} ${info.notation}`] : [])).join("");
