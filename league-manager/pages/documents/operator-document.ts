import { spoken } from "#shared/games/game.ts";
import type { OperatorDocument } from "#shared/web/league-documents.ts";
import { acceptsLateEntries, formatOf, parsedOptions, viewOf } from "../../league/format-view.ts";
import type { League } from "../../league/league.ts";
import { type DocumentContext, type DocumentKind, type DocumentRequest, headerOf } from "./document.ts";

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
      pause: isRunning && !isPaused,
      resume: isRunning && isPaused,
      end: isRunning && !isEnded,
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
    if (typeof value !== "number") return [];
    return [{ option, text: spoken(option), value, matches_each: matchesOfOne(league, option, value) }];
  });
}

/** Returns by how many matches the league grows if an option is raised by one, on average over two; null if that is not known. */
function matchesOfOne(league: League, option: string, value: number): number | null {
  const format = formatOf(league);
  const view = viewOf(league, "");
  const options = parsedOptions(league) as object;
  const before = format.remaining(view, options);
  const after = format.remaining(view, { ...options, [option]: value + 2 });
  return before === null || after === null || after <= before ? null : (after - before) / 2;
}
