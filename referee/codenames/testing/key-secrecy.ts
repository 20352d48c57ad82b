import { type CodenamesCard, codenames } from "#shared/games/codenames.ts";
import { applyLegal } from "#shared/games/simulate.ts";

export type Card = Pick<CodenamesCard, "word" | "uncovered"> & { readonly identity: string };

const IDENTITY = "(?:red|blue|neutral|assassin)";
/** Little, and neither letters nor the end of a sentence: brackets, colons, JSON around the two; and the few words that bind them. */
const BETWEEN = String.raw`(?:[^\p{L}.\n]{0,8}(?:(?:identity|was|is|the|an?|agents?|for|of|word)[^\p{L}.\n]{1,8}){0,3})`;

/**
 * Where a text tells what a covered card is: its word and an identity side by side, either way round, in whatever serialisation.
 * What is told of uncovered cards is taken out before, so that its identity does not stand next to the covered neighbour. A list of
 * words behind an identity counts for its first word.
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

/** A text as a reader has it: escapes of JSON in JSON undone, sealed states read. */
function plain(raw: string): string {
  const read = raw
    .replace(/\\+n/g, "\n")
    .replace(/\\+"/g, '"')
    .replace(/\\+u(\w{4})/g, (_all, code) => String.fromCharCode(Number.parseInt(code, 16)));
  const sealed = [...raw.matchAll(/[\w-]{24,}/g)].map(([one]) => Buffer.from(one, "base64url").toString("utf8"));
  return [read, ...sealed.filter((one) => one.includes("{"))].join("\n\n=====\n\n");
}

/** The cards of a game, from its log. All are uncovered once it is over, because the key is public then. */
export function cardsIn(seed: string, bodies: readonly string[]): Card[] {
  const [created, ...entries] = bodies.map((body) => JSON.parse(body));
  const begun = codenames.initialState({ options: codenames.options.parse(created.options), seed });
  const actions = entries.flatMap(({ role, action }) => (action === undefined ? [] : [{ role, action }]));
  const { cards, phase } = actions.reduce(
    (state, { role, action }) => applyLegal(codenames as never, state, role, action) as typeof begun,
    begun,
  );
  const isOver = phase === "over" || actions.length < entries.length;
  return cards.map(({ word, identity, uncovered }) => ({ word, identity, uncovered: uncovered || isOver }));
}
