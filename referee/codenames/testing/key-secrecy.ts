import { codenames } from "#shared/games/codenames.ts";
import type { CodenamesCard } from "#shared/games/codenames-view.ts";
import { applyLegal } from "#shared/games/contract/obligation.ts";

export type Card = Pick<CodenamesCard, "word" | "uncovered"> & { readonly identity: string };

const IDENTITY = "(?:red|blue|neutral|assassin)";
/** The characters between a word and an identity that count as a statement: a few brackets, colons or JSON syntax, and connecting words such as "is". */
const BETWEEN = String.raw`(?:[^\p{L}.\n]{0,8}(?:(?:identity|was|is|the|an?|agents?|for|of|word)[^\p{L}.\n]{1,8}){0,3})`;

/**
 * Returns the parts of a text that reveal the identity of a covered card: its word and an identity side by side, in any order and
 * serialization. Statements about uncovered cards are removed first, so that their identities do not count for a covered neighbor. In
 * a list of words after an identity, the first word counts.
 */
export function leaksIn(raw: string, cards: readonly Card[]): string[] {
  const text = cards
    .filter(({ uncovered }) => uncovered)
    .reduce((rest, { word }) => rest.replace(pairs(word, "gu"), " … "), plain(raw));
  return cards.flatMap(({ word, uncovered }) => {
    const found = uncovered ? null : pairs(word, "u").exec(text);
    return found ? [found[0]] : [];
  });
}

const pairs = (word: string, flags: string): RegExp =>
  new RegExp(
    String.raw`(?<!\p{L})${word}(?!\p{L})${BETWEEN}${IDENTITY}(?!\p{L})|(?<!\p{L})${IDENTITY}${BETWEEN}${word}(?!\p{L})`,
    flags,
  );

/** The text with the escapes of nested JSON resolved, followed by the decoded base64url texts in it, such as signed states. */
function plain(raw: string): string {
  const read = raw
    .replace(/\\+n/g, "\n")
    .replace(/\\+"/g, '"')
    .replace(/\\+u(\w{4})/g, (_all, code) => String.fromCharCode(Number.parseInt(code, 16)));
  const sealed = [...raw.matchAll(/[\w-]{24,}/g)].map(([one]) => Buffer.from(one, "base64url").toString("utf8"));
  return [read, ...sealed.filter((one) => one.includes("{"))].join("\n\n=====\n\n");
}

/** The cards of a game, computed from its log. All cards count as uncovered after the game, because the key is public then. */
export function cardsIn(seed: string, bodies: readonly string[]): Card[] {
  const [created, ...entries] = bodies.map((body) => JSON.parse(body));
  const initial = codenames.initialState({ options: codenames.options.parse(created.options), seed });
  const actions = entries.flatMap(({ role, action }) => (action === undefined ? [] : [{ role, action }]));
  const { cards, phase } = actions.reduce(
    (state, { role, action }) => applyLegal(codenames as never, state, role, action) as typeof initial,
    initial,
  );
  const isOver = phase === "over" || actions.length < entries.length;
  return cards.map(({ word, identity, uncovered }) => ({ word, identity, uncovered: uncovered || isOver }));
}
