import { spoken } from "../../games/game.ts";

/** The causes of faults as people read them on all pages. */
export const FAULT_TEXTS: Readonly<Record<string, string>> = {
  refused: "The player could not be reached",
  timeout: "No answer in time",
  clock: "The clock ran out",
  http_error: "The player answered with an HTTP error",
  bad_json: "The answer was not JSON",
  bad_reply: "The answer did not follow the protocol",
  bot_error: "The bot failed with an error",
  too_large: "The answer was too large",
  illegal_move: "Illegal moves",
  declined: "The invitation was declined",
  resigned: "Resignation",
};

/** Returns the cause of a fault in words. Referees of other projects may have other causes. */
export const faultInWords = (cause: string): string =>
  (Object.hasOwn(FAULT_TEXTS, cause) ? FAULT_TEXTS[cause] : undefined) ?? spoken(cause);

/** Returns the causes in the reason of a forfeit, for the middle of a sentence: "no answer in time, illegal moves". */
export const faultsInWords = (reason: string): string =>
  [...new Set(reason.split(","))]
    .map(faultInWords)
    .map((text) => text.charAt(0).toLowerCase() + text.slice(1))
    .join(", ");
