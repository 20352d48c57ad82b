import type { Clock } from "#shared/lib/clock.ts";
import { silentProgress } from "../run/progress.ts";
import { runLeagues } from "../run/run.ts";
import type { RunFolder } from "../run/run-folder.ts";
import type { Ended } from "./local/play-locally.ts";
import type { MatchTerms } from "./result.ts";
import { LEAGUE_ID } from "./setup.ts";
import { storedLeague } from "./stored-league.ts";
import { wireProgress } from "./wire-progress.ts";

interface WirePlay {
  readonly clock: Clock;
  readonly folder: RunFolder;
  readonly matchTerms: MatchTerms;
  readonly isQuiet: boolean;
}

/** Plays the games of a run as a league of processes. */
export async function playOverWire({ clock, folder, matchTerms, isQuiet }: WirePlay): Promise<Ended> {
  const match = { folder: folder.path, leagueId: LEAGUE_ID, terms: matchTerms };
  const progress = isQuiet ? silentProgress : wireProgress(process.stderr, clock, match);
  const exitCode = await runLeagues({
    folder,
    clock,
    progress,
    warn: (line) => (isQuiet ? void process.stderr.write(`${line}\n`) : progress.line(line)),
    keep: false,
    onCompleted: () => {},
  });
  return { league: await storedLeague(folder.path, LEAGUE_ID), exitCode };
}
