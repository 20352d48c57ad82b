/** What each viewer of a league match receives at each surface before, while and after something is hidden. */

import { eras } from "../../../referee/codenames/testing/host.ts";
import { tool, watchStream } from "../../../referee/play/testing/play.ts";
import type { Place, RequestSurface } from "../../../referee/play/testing/surfaces.ts";
import { openStreams, textsOf, untilTick } from "./host-readings.ts";
import { exported, type Moment, outputs, wireOf } from "./league-sent.ts";
import {
  EVENTS,
  EVENTS_RESUMED,
  MANAGER_OUTPUT,
  MANAGER_SURFACES,
  notificationsOf,
  REFEREE_OUTPUT,
  REFEREE_SURFACES,
  type Tokens,
  tokensOf,
  WIRE,
} from "./league-surfaces.ts";
import { type HeldLeague, LEAGUE, MATCH } from "./league-world.ts";
import { type Subscription, subscribe } from "./subscriptions.ts";
import type { Reading, Readings } from "./table.ts";

/** What happens in a league while it is read. */
export interface Course {
  /** Makes the sealed choice; in other games an action in the open. */
  hide(): Promise<void>;
  /** Ends the turn. */
  close(): Promise<void>;
  /** Closes a turn of the other match of the referee. */
  playOther(): Promise<void>;
}

/** Reads a league as all its viewers, while its course is played. */
export async function readLeague(league: HeldLeague, sessionId: string, course: Course): Promise<Readings> {
  const { referee } = league;
  const viewers = await tokensOf(league);
  const atReferee = new Map([...viewers].map(([viewer, tokens]) => [viewer, tokens.referee] as const));
  const streams = await openStreams(referee, sessionId, atReferee, "before");
  const events = await openEvents(league, viewers, EVENTS);
  const clients = await openSubscriptions(league, viewers);
  const wire = wireOf(league);
  /** Reads all that one request reads, and all that has been sent since the moment before. */
  const moment = async (): Promise<Moment> => {
    const requests = await readRequests(league, sessionId, viewers);
    const sent = [await wire.taken(), await outputs(league), await exported(league)];
    return merged([requests, ...sent]);
  };
  /** Changes another match and the schedule of a later round: these notifications arrive after all others. */
  const notified = async (): Promise<Moment> => {
    await course.playOther();
    await scheduleLater(league);
    return clients.taken();
  };
  const before = merged([await notified(), await moment()]);
  await course.hide();
  const atHidden = await moment();
  const hidden = merged([atHidden, await notified()]);
  streams.push(...(await openStreams(referee, sessionId, atReferee, "sealed")));
  events.push(...(await openEvents(league, viewers, EVENTS_RESUMED)));
  await course.close();
  const after = merged([await moment(), await clients.afterwards()]);
  const readings = new Map<string, Map<string, Reading>>();
  for (const viewer of viewers.keys()) {
    const surfaces = new Set([before, hidden, after].flatMap((texts) => [...(texts.get(viewer)?.keys() ?? [])]));
    const at = (texts: Moment, surface: string): string => texts.get(viewer)?.get(surface) ?? "";
    const cells = [...surfaces].map((surface) => {
      const reading = { before: at(before, surface), hidden: at(hidden, surface), after: at(after, surface) };
      if (!isStream(surface)) return [surface, reading] as const;
      return [surface, { ...reading, before: null, hidden: `${reading.before}\n${reading.hidden}` }] as const;
    });
    readings.set(viewer, new Map<string, Reading>(cells));
  }
  const { tick } = (await referee.call("GET", `/api/games/${sessionId}`, { token: holderToken(viewers) })).json;
  for (const { viewer, name, stream } of streams) readings.get(viewer)?.set(name, await untilTick(stream, tick));
  for (const { viewer, name, reading } of events) readings.get(viewer)?.set(name, await reading());
  await clients.close();
  return readings;
}

/** Of these surfaces a moment has only what is new. */
const isStream = (surface: string): boolean => [WIRE, MANAGER_OUTPUT, REFEREE_OUTPUT].includes(surface);

const holderToken = (viewers: ReadonlyMap<string, Tokens>): string => [...viewers.values()][0]?.referee ?? "";

function merged(moments: readonly Moment[]): Moment {
  const all = new Map<string, Map<string, string>>();
  for (const moment of moments) {
    for (const [viewer, texts] of moment) all.set(viewer, new Map([...(all.get(viewer) ?? []), ...texts]));
  }
  return all;
}

/** Reads as one viewer after the other, because the order of requests decides which rejections are logged. */
async function readRequests(
  { manager, referee }: HeldLeague,
  sessionId: string,
  viewers: ReadonlyMap<string, Tokens>,
): Promise<Moment> {
  const texts = new Map<string, ReadonlyMap<string, string>>();
  const read = (surfaces: Readonly<Record<string, RequestSurface>>, place: Place, token: string | null) =>
    textsOf(surfaces, place, sessionId, token);
  for (const [viewer, tokens] of viewers) {
    const [one, other] = [
      await read(REFEREE_SURFACES, referee, tokens.referee),
      await read(MANAGER_SURFACES, manager, tokens.manager),
    ];
    texts.set(viewer, new Map([...one, ...other]));
  }
  return texts;
}

/** Subscribes each viewer to the match at its referee and at the manager, with a client of each era. */
async function openSubscriptions(league: HeldLeague, viewers: ReadonlyMap<string, Tokens>) {
  const { referee, manager, otherMatch } = league;
  const [atReferee, atManager] = [`game://state/${LEAGUE}/${otherMatch}`, "league://schedule"];
  const own = [`game://state/${MATCH}`, `game://state/${LEAGUE}/${MATCH}`];
  const clients: { viewer: string; surface: string; client: Subscription; sentinel: string }[] = [];
  for (const [viewer, tokens] of viewers) {
    for (const era of eras) {
      const open = async (agent: "referee" | "manager", place: Place, uris: readonly string[], sentinel: string) =>
        clients.push({
          ...{ viewer, sentinel, surface: notificationsOf(agent, era) },
          client: await subscribe(place.url, era, [...uris, sentinel], tokens[agent]),
        });
      await open("referee", referee, own, atReferee);
      await open("manager", manager, [`match://${LEAGUE}/${MATCH}`, `league://${LEAGUE}/standings`], atManager);
    }
  }
  const now = (): Moment =>
    merged(clients.map(({ viewer, surface, client }) => new Map([[viewer, new Map([[surface, client.taken()]])]])));
  return {
    /** What has come since the last call, when each client has been notified of its sentinel. */
    async taken(): Promise<Moment> {
      await Promise.all(clients.map(({ client, sentinel }) => client.notified(sentinel)));
      return now();
    },
    /** What has come since the last call, when each client of the referee has been notified of the match. */
    async afterwards(): Promise<Moment> {
      const atReferees = clients.filter(({ sentinel }) => sentinel === atReferee);
      for (const { client } of atReferees) for (const uri of own) await client.notified(uri);
      return now();
    },
    close: () => Promise.all(clients.map(({ client }) => client.close())),
  };
}

/** The operator schedules a match of the second round, which is not open yet. */
async function scheduleLater({ manager, operatorToken, seats }: HeldLeague): Promise<void> {
  const players = [...seats.values()].map(({ id }) => id);
  const args = { league_id: LEAGUE, round_id: 2, players };
  const { isError, text } = await tool(manager, "schedule_match", args, { bearer: operatorToken });
  if (isError) throw new Error(text);
}

/** How often the schedule changes while something is hidden. */
const CHANGES = 2;

/** Opens the stream of the league's events for each viewer. It is read up to the last change of the schedule while something is hidden. */
const openEvents = ({ manager }: HeldLeague, viewers: ReadonlyMap<string, Tokens>, name: string) =>
  Promise.all(
    [...viewers].map(async ([viewer, tokens]) => {
      const stream = await watchStream(manager, `/leagues/${LEAGUE}/events?from=0`, tokens.manager ?? undefined);
      const reading = async (): Promise<Reading> => {
        for (let changes = 0; changes < CHANGES; ) if ((await stream.next())?.event === "match_scheduled") changes++;
        stream.close();
        return { before: null, hidden: stream.raw(), after: "" };
      };
      return { viewer, name, reading };
    }),
  );
