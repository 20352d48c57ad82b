import type {
  Bracket,
  BracketRound,
  BracketSlot,
  BracketTie,
  Decision,
  Section,
  Source,
} from "#shared/formats/bracket.ts";
import type { FormatMatch } from "#shared/formats/format.ts";
import { membersOf } from "#shared/formats/teams.ts";
import { resultMark } from "#shared/standings/crosstable.ts";
import type {
  BracketDocument,
  BracketRoundView,
  BracketSlotView,
  BracketTieView,
  BracketTree,
  PlayerRef,
} from "#shared/web/league-documents.ts";
import { formatOf, parsedOptions, teamPlayOf, viewOf } from "../../league/format-view.ts";
import type { League } from "../../league/league.ts";
import { type DocumentContext, type DocumentKind, type DocumentRequest, headerOf, playerRef } from "./document.ts";

export const bracket = {
  page: "bracket",
  path: "bracket",
  title: ({ league }: BracketDocument) => `Bracket – ${league.league_id}`,
  read: bracketDocument,
} satisfies DocumentKind;

/** Returns the bracket of an elimination, or null for other formats. */
function bracketDocument(context: DocumentContext, { league, query }: DocumentRequest): BracketDocument | null {
  const format = formatOf(league);
  if (!format.bracket) return null;
  // Before the first round, random seeds are secret, and players can still enter.
  if (league.rounds.length === 0) {
    return { league: headerOf(context, league), part: 0, parts: 0, trees: [], winner: [] };
  }
  const view = viewOf(league, "");
  const found = format.bracket(view, parsedOptions(league));
  const matches = new Map(view.rounds.flatMap((round) => round.matches.map((match) => [match.matchId, match])));
  const labels = new Map(found.rounds.flatMap(labelledTies));
  const show = { seeds: found.seeds, matches, labels, playersOf: playersReader(context, league) };
  const last = found.rounds.flatMap(({ section, ties }) => (section === "final" ? ties : [])).at(-1);
  const parts = partsOf(found);
  const part = Math.min(parts, Math.max(0, Number.parseInt(query.get("part") ?? "0", 10) || 0));
  const trees = treesOf(found).map(({ name, rounds }) => ({
    name,
    rounds: rounds.flatMap((round) => roundView(show, round, part, parts) ?? []),
  }));
  return {
    league: headerOf(context, league),
    part,
    parts,
    trees: trees.filter((tree) => tree.rounds.length > 0),
    winner: last?.winner ? show.playersOf(last.winner) : [],
  };
}

interface Show {
  readonly seeds: readonly string[];
  readonly matches: ReadonlyMap<string, FormatMatch>;
  /** The names of ties by id: "semi-final 1". */
  readonly labels: ReadonlyMap<string, string>;
  readonly playersOf: (competitor: string) => readonly PlayerRef[];
}

/** Returns the function that returns the players of a competitor: a player, or the members of a team. */
function playersReader({ views }: DocumentContext, league: League): Show["playersOf"] {
  const play = teamPlayOf(league);
  return (competitor) =>
    (play ? membersOf([competitor], play) : [competitor]).map((playerId) => playerRef(views.projections, playerId));
}

const labelledTies = ({ label, ties }: BracketRound): readonly (readonly [string, string])[] =>
  ties.map(({ id }, index) => [id, tieName(label, ties.length === 1 ? null : index + 1)]);

/** Returns the name of a tie for the middle of a sentence: "semi-final 1", "tie 6, round of 16". */
function tieName(label: string, number: number | null): string {
  const round = label.charAt(0).toLowerCase() + label.slice(1);
  if (number === null) return round;
  return /\d$/.test(label) ? `tie ${number}, ${round}` : `${round} ${number}`;
}

/** The trees of a bracket. A single elimination is one tree that ends with the final. */
function treesOf({ rounds }: Bracket): readonly (Omit<BracketTree, "rounds"> & { rounds: readonly BracketRound[] })[] {
  const of = (...sections: readonly Section[]) => rounds.filter(({ section }) => sections.includes(section));
  const losers = of("losers");
  const trees =
    losers.length === 0
      ? [
          { name: "", rounds: of("winners", "final") },
          { name: "Third place", rounds: of("third_place") },
        ]
      : [
          { name: "Winners", rounds: of("winners") },
          { name: "Losers", rounds: losers },
          { name: "Final", rounds: of("final") },
        ];
  return trees.filter((tree) => tree.rounds.length > 0);
}

/** The maximum number of ties of a round on one page. */
const MAX_TIES = 32;

/** The number of parts of a bracket; 0 for a bracket that is shown as a whole. */
function partsOf({ rounds }: Bracket): number {
  const parts = Math.ceil(Math.max(...rounds.map(({ ties }) => ties.length)) / MAX_TIES);
  return parts > 1 ? parts : 0;
}

/** Returns the ties of a round in a part; null if the part has none. Each round of a large bracket has the ties of its parts one after the other. */
function roundView(show: Show, { label, ties }: BracketRound, part: number, parts: number): BracketRoundView | null {
  if (part === 0) {
    return ties.length > MAX_TIES ? null : { label, ties_shown: "", ties: ties.map((tie) => tieView(show, tie)) };
  }
  const size = ties.length / parts;
  if (size < 1) return null;
  const first = (part - 1) * size;
  return {
    label,
    ties_shown: size === 1 ? `tie ${first + 1}` : `ties ${first + 1}–${first + size}`,
    ties: ties.slice(first, first + size).map((tie) => tieView(show, tie)),
  };
}

const NOTES: Readonly<Record<Decision, string>> = {
  points: "",
  seed: "decided by the better seed",
  bye: "bye",
  withdrawal: "the opponent has left",
  empty: "not played",
  not_needed: "not needed",
};

function tieView(show: Show, tie: BracketTie): BracketTieView {
  const { id, matchIds, decidedBy, slots } = tie;
  const matches = matchIds.flatMap((matchId) => show.matches.get(matchId) ?? []);
  const isPlaying = decidedBy === null && matchIds.length > 0;
  return {
    id,
    state: decidedBy === null ? (isPlaying ? "playing" : "waiting") : "decided",
    note: decidedBy === null ? "" : NOTES[decidedBy],
    match_ids: matchIds,
    slots: [slotView(show, tie, slots[0], matches), slotView(show, tie, slots[1], matches)],
  };
}

function slotView(
  { seeds, labels, playersOf }: Show,
  { winner, decidedBy }: BracketTie,
  { playerId, isEmpty, from }: BracketSlot,
  matches: readonly FormatMatch[],
): BracketSlotView {
  const results = matches.map(({ players, outcome }) => {
    const points = playerId === null ? undefined : outcome?.points[players.indexOf(playerId)];
    return points === undefined ? null : { points, mark: resultMark(points, outcome?.termination === "forfeit") };
  });
  const scored = results.flatMap((one) => one ?? []);
  const isPlayed = decidedBy !== "not_needed";
  return {
    players: playerId === null || !isPlayed ? [] : playersOf(playerId),
    seed: playerId === null || !isPlayed ? null : seeds.indexOf(playerId) + 1,
    from: playerId === null && !isEmpty ? sourceText(from, labels) : "",
    marks: results.map((one) => one?.mark ?? ""),
    points: scored.length === 0 ? null : scored.reduce((sum, { points }) => sum + points, 0),
    is_winner: playerId !== null && isPlayed && playerId === winner,
  };
}

function sourceText(from: Source, labels: ReadonlyMap<string, string>): string {
  if ("seed" in from) return `Seed ${from.seed}`;
  return "winnerOf" in from ? `Winner of ${labels.get(from.winnerOf)}` : `Loser of ${labels.get(from.loserOf)}`;
}
