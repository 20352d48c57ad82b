import type { AgentProcess } from "#shared/runtime/agent.ts";
import { replayTexts } from "#shared/session/replay.ts";
import { viewOf } from "#shared/session/view.ts";
import type { Homes } from "../cluster/homes.ts";
import type { Inboxes } from "../inbox/inboxes.ts";
import { matchOf } from "../league/evolve.ts";
import type { Ledger } from "../ledger.ts";
import type { Projections } from "../projections/projections.ts";
import { HostedPlayers } from "./hosted-players.ts";
import { createSeats, type Seats, type SeatsOptions } from "./seats.ts";

export interface HostingOptions {
  readonly ledger: Ledger;
  readonly inboxes: Inboxes;
  readonly homes: Homes;
  readonly views: {
    readonly projections: Projections;
    /** Returns the session log of a completed match. */
    readonly logOf: (leagueId: string, matchId: string) => Promise<readonly string[]>;
    readonly seedOf: (leagueId: string, matchId: string, epoch: number) => string;
  };
  readonly register: SeatsOptions["register"];
}

/** The players that the manager hosts, for people and models without a program. */
interface Hosting {
  readonly seats: Seats;
  start(): void;
  stop(): void;
}

export function createHosting(
  { ledger, inboxes, homes, views, register }: HostingOptions,
  { clock, ids, log }: Pick<AgentProcess, "clock" | "ids" | "log">,
): Hosting {
  const finalView = async (leagueId: string, matchId: string, role: string): Promise<unknown> => {
    const league = ledger.state.leagues.get(leagueId);
    const match = league && matchOf(league, matchId);
    if (!match) return null;
    const log = await views.logOf(leagueId, matchId);
    const replayed = replayTexts(log, views.seedOf(leagueId, matchId, match.epoch));
    if (!replayed.ok) return null;
    return viewOf(replayed.value.session, role);
  };
  const onError = (thrown: unknown): void =>
    log.error({ err: thrown }, "a message or the final position of a match could not be shown to a hosted player");
  const hosted = new HostedPlayers({ ledger, inboxes, homes, clock, ids, finalView, onError });
  const seats = createSeats({
    context: { hosted, projections: views.projections, clock },
    homes,
    execute: (decide) => ledger.execute(decide),
    register,
  });
  return { seats, start: () => hosted.start(), stop: () => hosted.stop() };
}
