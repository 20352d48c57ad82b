import { matchOf } from "../league/evolve.ts";
import { type League, type Match, roundOf } from "../league/league.ts";
import type { CommittedEvent, ManagerState } from "../ledger.ts";
import type { JobChanges, MatchJob } from "./match-queue.ts";

/** The text that identifies a job within its run. */
export const jobKey = ({ leagueId, matchId, epoch }: MatchJob): string => `${leagueId}/${matchId}/${epoch}`;

/** Returns whether a match is to be played under this epoch: its round is opened and it has no result. */
export function isOpenJob(league: League | undefined, { matchId, epoch }: MatchJob): boolean {
  const match = league && matchOf(league, matchId);
  return match ? match.epoch === epoch && isOpen(league, match) : false;
}

/** Returns the jobs of all matches of the opened rounds that have no result. */
export const openJobs = ({ leagues }: Pick<ManagerState, "leagues">): readonly MatchJob[] =>
  [...leagues.values()].flatMap((league) =>
    league.openRounds.flatMap((roundId) => jobsOfRound(league, roundId).filter((job) => isOpenJob(league, job))),
  );

/**
 * Returns the jobs that the events of one commit add and end. `state` is the state after all of them. A job that the same commit adds and ends is in neither
 * list.
 */
export function jobChanges(events: readonly CommittedEvent[], { leagues }: Pick<ManagerState, "leagues">): JobChanges {
  const added = new Map<string, MatchJob>();
  const ended = new Map<string, MatchJob>();
  const add = (job: MatchJob): void => void added.set(jobKey(job), job);
  const addRound = (league: League, roundId: number): void => {
    for (const job of jobsOfRound(league, roundId)) {
      // A match that ended before its round was opened had no job.
      ended.delete(jobKey(job));
      add({ ...job, epoch: 1 });
    }
  };
  const end = (job: MatchJob): void => void (added.delete(jobKey(job)) || ended.set(jobKey(job), job));
  for (const committed of events) {
    const league = committed.kind === "league" && leagues.get(committed.leagueId);
    if (!league) continue;
    const { leagueId, event } = committed;
    switch (event.type) {
      case "round_paired":
        // Its matches become jobs when it is opened, by this event or by a later one.
        if (event.slots === undefined) break;
        addRound(league, event.round_id);
        break;
      case "round_opened":
        addRound(league, event.round_id);
        break;
      case "match_scheduled":
        add({ leagueId, matchId: event.match_id, epoch: 1 });
        break;
      case "match_released":
        end({ leagueId, matchId: event.match_id, epoch: event.epoch });
        add({ leagueId, matchId: event.match_id, epoch: event.epoch + 1 });
        break;
      case "match_completed":
      case "match_aborted":
      case "match_cancelled":
      case "match_annulled": {
        const job = { leagueId, matchId: event.match_id, epoch: event.epoch };
        if (hadJob(league, event)) end(job);
        break;
      }
    }
  }
  return {
    added: [...added.values()].filter((job) => isOpenJob(leagues.get(job.leagueId), job)),
    ended: [...ended.values()],
  };
}

const isOpen = (league: League, { roundId, status }: Match): boolean =>
  status !== "completed" && roundOf(league, roundId)?.isOpened === true;

const jobsOfRound = ({ leagueId, rounds }: League, roundId: number): readonly MatchJob[] =>
  (roundOf({ rounds }, roundId)?.matches ?? []).map(({ matchId, epoch }) => ({ leagueId, matchId, epoch }));

/** Returns whether a match that has ended was in an opened round and had no result before. */
function hadJob(
  league: League,
  event: { readonly match_id: string; readonly match_points?: unknown; readonly type: string },
): boolean {
  const match = matchOf(league, event.match_id);
  const isOpened = match !== null && roundOf(league, match.roundId)?.isOpened === true;
  return isOpened && (event.type !== "match_annulled" || event.match_points === undefined);
}
