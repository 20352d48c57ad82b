/** The bot enters leagues of these games only. */
export const games = ["rps.v1"];

/**
 * Returns one of the legal actions. A turn also has `view`, the part of the game that this role may know.
 * @type {import("agent-league").Bot<"rps.v1">}
 */
const bot = ({ legal, random }) => {
  return random.pick(legal);
};

export default bot;
