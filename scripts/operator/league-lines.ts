import type { z } from "zod";
import { counted, inOneLine } from "#shared/lib/text.ts";
import type { LeagueStatus } from "../../league-manager/api/tool-schemas.ts";

type Status = z.infer<typeof LeagueStatus>;

/** The status of leagues and referees as lines of text. */
export function statusLines({ leagues, referees }: Status): readonly string[] {
  const unfinished = leagues.filter(({ status }) => status !== "completed");
  const isFinished = leagues.length > 0 && unfinished.length === 0;
  const playing = new Set(unfinished.flatMap(({ players }) => players.map(({ player_id }) => player_id)));
  const busy = referees.map(
    ({ referee_id, state, answers, max_matches }) =>
      `${referee_id} ${stateText(state, isFinished)}${answers ? "" : ", does not answer"} (at most ${counted(max_matches, "match", "matches")} at once)`,
  );
  return [
    ...leagues.flatMap((league) => leagueLines(league, playing)),
    `referees: ${busy.length === 0 ? "none is registered" : busy.join(", ")}`,
  ].map((line) => inOneLine(line));
}

/** The state of an agent for people. All agents are shut down when their leagues are over, which is no fault. */
const stateText = (state: string | null, isFinished: boolean): string =>
  state === "SHUTDOWN" && isFinished ? "finished" : (state ?? "not registered");

/** `playing`: the ids of the players in leagues that are not completed. */
function leagueLines(league: Status["leagues"][number], playing: ReadonlySet<string>): readonly string[] {
  const { league_id, game, format, format_options, status, players } = league;
  // `"late_entry": "makeup"` in a config sets the option `makeup`. It has a line for itself.
  const shown = Object.entries(format_options).filter(([name]) => name !== league.late_entry);
  const options = shown.map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  const formatText = [format, ...options].join(", ");
  return [
    `${league_id}: ${status}, ${game}, ${formatText}`,
    ...(league.late_entry === "closed" ? [] : [`  late_entry: ${league.late_entry}`]),
    ...(league.clock === null ? [] : [`  clocks: ${clockText(league.clock)}`]),
    ...(league.starts_at === null ? [] : [`  starts at ${league.starts_at}`]),
    ...(league.waits_for === null ? [] : [`  waits: ${league.waits_for}`]),
    ...(league.rounds === 0 ? [] : [`  ${progressOf(league)}`]),
    ...(league.round_ends_at === null ? [] : [`  round ${league.current_round} ends at ${league.round_ends_at}`]),
    ...(league.result ? [`  ${league.result.text}`] : []),
    ...players.map(
      ({ rank, player_id, display_name, state, points }) =>
        `  ${rank}. ${display_name} (${player_id}), ${points} points, ${stateText(state, !playing.has(player_id))}`,
    ),
    "",
  ];
}

const clockText = ({ initial_ms, increment_ms }: { initial_ms: number; increment_ms: number }): string =>
  `${initial_ms / 1000} s for all moves, and ${increment_ms / 1000} s more with each move`;

function progressOf({
  current_round,
  rounds,
  completed,
  matches,
  being_played,
  expected_matches,
}: Status["leagues"][number]) {
  const round = current_round === null ? counted(rounds, "round") : `round ${current_round}`;
  const played = `${counted(completed, "match", "matches")} completed, ${being_played} being played, ${matches} paired`;
  const end =
    expected_matches === null || expected_matches === matches ? "" : `, at most ${expected_matches} at the end`;
  return `${round}: ${played}${end}`;
}

/** One event of a league's stream as a line: its time, its type and its fields. */
export function eventLine(type: string, data: string): string {
  const { at = "", type: _, league_id: __, version: ___, ...fields } = JSON.parse(data) as Record<string, unknown>;
  const texts = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === "string" && !/[\s=]/.test(value) ? value : JSON.stringify(value)}`,
  );
  return inOneLine([String(at), type, ...texts].join(" "));
}
