import { type CodenamesTurn, type CodenamesView, endInWords, skipInWords } from "#shared/games/codenames-view.ts";

/** The progress message of a game: the last event and the next step, from the view of a spectator. */
export function progressText({ turns, phase, turn, result }: CodenamesView): string {
  const open = turns.at(-1);
  const hasBegun = open !== undefined && (open.clue !== null || open.skipped !== null);
  const last = hasBegun ? open : turns.at(-2);
  const next = result
    ? `the game is over: ${endInWords(result)}`
    : `${turn} ${phase === "clue" ? "gives a clue" : "guesses"}`;
  return [last && eventIn(last, last !== open), next].filter(Boolean).join("; ");
}

function eventIn({ team, clue, guesses, skipped }: CodenamesTurn, isClosed: boolean): string {
  if (skipped !== null) return `${team} gave up its turn (${skipInWords[skipped]})`;
  const last = guesses.at(-1);
  if (!last) return clue ? `${team}: ${clue.word} ${clue.number}` : "";
  const mayContinue = typeof clue?.number !== "number" || clue.number === 0 || guesses.length <= clue.number;
  if (isClosed && last.identity === team && mayContinue) return `${team} stopped guessing`;
  return `${team} guessed ${last.word}: ${last.identity}`;
}
