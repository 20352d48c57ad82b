import { spoken } from "#shared/games/game.ts";
import type { OperatorDocument } from "#shared/web/documents/operator.ts";
import { acceptsLateEntries, formatOf, parsedOptions } from "../../league/format-view.ts";
import type { League } from "../../league/league.ts";
import type { DocumentContext, DocumentKind, DocumentRequest } from "./document.ts";
import { headerOf } from "./league.ts";

export const operator = {
  page: "operator",
  path: "operator",
  title: ({ league }: OperatorDocument) => `Operator – ${league.league_id}`,
  summary: () => ["The actions of the operator need JavaScript."],
  read: operatorDocument,
} satisfies DocumentKind;

function operatorDocument(context: DocumentContext, { league }: DocumentRequest): OperatorDocument {
  const { status, isPaused, isEnded, entrants, rounds, roles } = league;
  const isRunning = status === "running";
  return {
    league: headerOf(context, league),
    can: {
      start: status === "open" && entrants.size >= roles.length,
      ...{ pause: isRunning && !isPaused, resume: isRunning && isPaused, end: isRunning && !isEnded },
      add_player: status === "open" || (isRunning && !isEnded && acceptsLateEntries(league)),
      remove_player: status !== "completed" && entrants.size > 0,
      change_matches: isRunning && rounds.length > 0,
    },
    extendable: isRunning && !isEnded ? extendableOptions(league) : [],
    roles: roles.map(spoken),
  };
}

function extendableOptions(league: League): OperatorDocument["extendable"] {
  const options = parsedOptions(league) as Readonly<Record<string, unknown>>;
  return formatOf(league).extendable.flatMap((option) => {
    const value = options[option];
    return typeof value === "number" ? [{ option, text: spoken(option), value }] : [];
  });
}
