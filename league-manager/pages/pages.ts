import type { Express } from "express";
import type { Clock } from "#shared/lib/clock.ts";
import type { Network } from "#shared/rpc/network.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import { LiveDocuments } from "./live-documents.ts";
import { MatchRelay } from "./matches/relay.ts";
import { StoredMatches } from "./matches/stored-match.ts";
import { missingRoutes, type PagesContext, pageRoutes } from "./routes.ts";

interface PagesOptions extends Omit<PagesContext, "live" | "matches"> {
  readonly network: Pick<Network, "openEventStream">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The pages of the leagues, and the streams that keep them up to date. */
export function leaguePages({ clock, log, network, ...context }: PagesOptions) {
  const onError = (thrown: unknown): void => log.error({ err: thrown }, "a document could not be sent");
  const live = new LiveDocuments({ clock, onError });
  const relay = new MatchRelay({ ledger: context.ledger, openEventStream: network.openEventStream, clock });
  const matches = { relay, stored: new StoredMatches(context.views) };
  return {
    /** Adds the pages and their documents. No routes may follow, because every unknown page is answered. */
    routes(app: Express): void {
      pageRoutes({ ...context, matches, live })(app);
      missingRoutes(context)(app);
    },
    /** Ends all streams. */
    close(): void {
      live.close();
      relay.close();
    },
  };
}
