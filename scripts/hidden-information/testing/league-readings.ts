/** The texts that each viewer of a league match receives at each surface, before, while and after information is hidden. */

import { eras } from "../../../referee/codenames/testing/host.ts";
import { tool, watchStream } from "../../../referee/play/testing/play.ts";
import type { Place, RequestSurface } from "../../../referee/play/testing/surfaces.ts";
import { openStreams, textsOf, untilTick } from "./host-readings.ts";
import { assetsOf, openDocuments } from "./league-documents.ts";
import type { Models } from "./league-models.ts";
import { exported, outputs, wireOf } from "./league-sent.ts";
import {
  EVENTS,
  EVENTS_RESUMED,
  MANAGER_OUTPUT,
  MANAGER_SURFACES,
  notificationsOf,
  PROMPTS,
  REFEREE_OUTPUT,
  REFEREE_SURFACES,
  type Tokens,
  tokensOf,
  WIRE,
} from "./league-surfaces.ts";
import type { Moment } from "./league-world.ts";
import { type ControlledLeague, LEAGUE, MATCH } from "./league-world.ts";
import { type Subscription, subscribe } from "./subscriptions.ts";
import type { Reading, Readings } from "./table.ts";

/** The moves that are made in a league while it is read. */
export interface Course {
  /** Makes the sealed choice; in games without sealed choices, a public action. */
  hide(): Promise<void>;
  /** Ends the turn. */
  close(): Promise<void>;
  /** Closes a turn of the other match of the referee. */
  playOther(): Promise<void>;
}

/** Reads a league as each of its viewers while the moves of `course` are made. */
export async function readLeague(
  league: ControlledLeague,
  models: Models,
  sessionId: string,
  course: Course,
): Promise<Readings> {
  const { referee, manager } = league;
  const viewers = await tokensOf(league);
  const atReferee = new Map([...viewers].map(([viewer, tokens]) => [viewer, tokens.referee] as const));
  const streams = await openStreams(referee, sessionId, atReferee, "before");
  const events = await openEvents(league, viewers, EVENTS);
  const documents = [await openDocuments(manager, viewers, "before")];
  const clients = await openSubscriptions(league, viewers);
  const wire = wireOf(league);
  /** Reads the surfaces of requests, and the texts that have been sent since the previous moment. */
  const moment = async (): Promise<Moment> => {
    const requests = await readRequests(league, sessionId, viewers);
    const sent = [await wire.drain(), await models.drain(), await outputs(league), await exported(league)];
    sent.push(await assetsOf(manager));
    return merged([requests, ...sent]);
  };
  /** Reads the notifications. Changes another match and the schedule of a later round first, because the notifications of these changes arrive last. */
  const notified = async (): Promise<Moment> => {
    await course.playOther();
    await scheduleLater(league);
    return clients.drain();
  };
  const before = merged([await notified(), await moment()]);
  await course.hide();
  const atHidden = await moment();
  const hidden = merged([atHidden, await notified()]);
  streams.push(...(await openStreams(referee, sessionId, atReferee, "sealed")));
  events.push(...(await openEvents(league, viewers, EVENTS_RESUMED)));
  documents.push(await openDocuments(manager, viewers, "sealed"));
  for (const opened of documents) await opened.hide();
  await course.close();
  const after = merged([await moment(), await clients.drainAfterTurn()]);
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
  for (const opened of documents) {
    for (const { viewer, surface, reading } of await opened.end()) readings.get(viewer)?.set(surface, reading);
  }
  await clients.close();
  return readings;
}

/** Whether a moment contains only the new text of a surface. */
const isStream = (surface: string): boolean => [WIRE, PROMPTS, MANAGER_OUTPUT, REFEREE_OUTPUT].includes(surface);

const holderToken = (viewers: ReadonlyMap<string, Tokens>): string => [...viewers.values()][0]?.referee ?? "";

function merged(moments: readonly Moment[]): Moment {
  const all = new Map<string, Map<string, string>>();
  for (const moment of moments) {
    for (const [viewer, texts] of moment) all.set(viewer, new Map([...(all.get(viewer) ?? []), ...texts]));
  }
  return all;
}

/** Reads sequentially as each viewer, because the order of requests determines which rejections are logged. */
async function readRequests(
  { manager, referee }: ControlledLeague,
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
async function openSubscriptions(league: ControlledLeague, viewers: ReadonlyMap<string, Tokens>) {
  const { referee, manager, otherMatch } = league;
  const [atReferee, atManager] = [`game://state/${LEAGUE}/${otherMatch}`, "league://schedule"];
  const matchUris = [`game://state/${MATCH}`, `game://state/${LEAGUE}/${MATCH}`];
  const clients: { viewer: string; surface: string; client: Subscription; sentinel: string }[] = [];
  for (const [viewer, tokens] of viewers) {
    for (const era of eras) {
      const open = async (agent: "referee" | "manager", place: Place, uris: readonly string[], sentinel: string) =>
        clients.push({
          viewer,
          sentinel,
          surface: notificationsOf(agent, era),
          client: await subscribe(place.url, era, [...uris, sentinel], tokens[agent]),
        });
      await open("referee", referee, matchUris, atReferee);
      await open("manager", manager, [`match://${LEAGUE}/${MATCH}`, `league://${LEAGUE}/standings`], atManager);
    }
  }
  const now = (): Moment =>
    merged(clients.map(({ viewer, surface, client }) => new Map([[viewer, new Map([[surface, client.drain()]])]])));
  return {
    /** Waits until each client has been notified of its sentinel. Resolves with the bytes that the clients have received since the last call. */
    async drain(): Promise<Moment> {
      await Promise.all(clients.map(({ client, sentinel }) => client.notified(sentinel)));
      return now();
    },
    /** Waits until each client of the referee has been notified of the match. Resolves as `drain` does. */
    async drainAfterTurn(): Promise<Moment> {
      const atReferees = clients.filter(({ sentinel }) => sentinel === atReferee);
      for (const { client } of atReferees) for (const uri of matchUris) await client.notified(uri);
      return now();
    },
    close: () => Promise.all(clients.map(({ client }) => client.close())),
  };
}

/** Schedules a match of the second round, which is not open yet. */
async function scheduleLater({ manager, operatorToken, seats }: ControlledLeague): Promise<void> {
  const players = [...seats.values()].map(({ id }) => id);
  const args = { league_id: LEAGUE, round_id: 2, players };
  const { isError, text } = await tool(manager, "schedule_match", args, { bearer: operatorToken });
  if (isError) throw new Error(text);
}

/** The number of changes of the schedule while information is hidden. */
const CHANGES = 2;

/** Opens the stream of the league's events for each viewer. Each stream is read up to the last change of the schedule while information is hidden. */
const openEvents = ({ manager }: ControlledLeague, viewers: ReadonlyMap<string, Tokens>, name: string) =>
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
