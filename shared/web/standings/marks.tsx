import type { JSX } from "preact";
import type { LeagueHeader } from "../documents/league.ts";
import type { FormMark, StandingRow } from "../documents/standings.ts";
import { matchPath } from "../texts/league-paths.ts";

/** The number of places that a player has gained or lost, as a mark and in words. */
export function Movement({ by }: { readonly by: number | null }): JSX.Element | null {
  if (by === null) return null;
  const places = Math.abs(by) === 1 ? "1 place" : `${Math.abs(by)} places`;
  const [name, mark, words] =
    by > 0
      ? ["up", `▲${by}`, `up ${places}`]
      : by < 0
        ? ["down", `▼${-by}`, `down ${places}`]
        : ["same", "=", "same place"];
  return (
    <span class={`move move-${name}`} title={`${words} since the previous round`}>
      <span aria-hidden="true">{mark}</span>
      <span class="unseen">{words}</span>
    </span>
  );
}

const RESULTS = {
  win: { letter: "W", text: "won" },
  draw: { letter: "D", text: "drawn" },
  loss: { letter: "L", text: "lost" },
} as const;

interface FormProps {
  readonly league: Pick<LeagueHeader, "league_id">;
  readonly marks: readonly FormMark[];
}

/** The last results of a player as links to the matches, the latest last. */
export function Form({ league, marks }: FormProps): JSX.Element {
  return (
    <span class="form">
      {marks.map(({ match_id, result }) => {
        const { letter, text } = RESULTS[result];
        return (
          <a
            key={match_id}
            class={`form-mark form-${result}`}
            href={matchPath(league, match_id)}
            title={`${match_id}, ${text}`}
          >
            <span aria-hidden="true">{letter}</span>
            <span class="unseen">
              {match_id}, {text}
            </span>
          </a>
        );
      })}
    </span>
  );
}

const PRESENCE_TEXTS = {
  suspended: ["suspended", "The player did not answer in time."],
  shut_down: ["shut down", "The player did not answer in three matches in a row."],
  removed: ["removed", "The operator has removed the player."],
  left: ["left", "The player has left the league."],
} as const;

/** Marks a player that does not play. */
export function Presence({ presence }: Pick<StandingRow, "presence">): JSX.Element | null {
  if (presence === "present") return null;
  const [text, title] = PRESENCE_TEXTS[presence];
  return (
    <span class="presence" title={title}>
      {text}
    </span>
  );
}
