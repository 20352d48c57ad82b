import { z } from "zod";
import { inOneLine } from "#shared/lib/text.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import { id } from "#shared/protocol/message-fields.ts";
import { asRefused, type Peers } from "#shared/rpc/peer/peer.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
import { NoOpenLeague } from "#shared/runtime/registration.ts";

/** A player that enters the leagues that are opened while it runs. */
interface Joining {
  /** The manager's endpoint. */
  readonly manager: string;
  readonly peers: Pick<Peers, "message">;
  readonly self: Pick<AgentProcess, "clock" | "ids" | "say" | "warn">;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** `player:P01`; `player:NAME` before the registration. */
  readonly sender: () => string;
  /** The token of the player. */
  readonly token: () => string;
  /** Registers the player for every open league of its games. Rejects with StartError. */
  readonly enter: () => Promise<void>;
  /** The leagues that the player has entered. */
  readonly entered: () => readonly string[];
}

/** The part of the answer to LIST_LEAGUES that a player needs. */
const Leagues = z.object({ leagues: z.array(z.object({ league_id: id, status: z.string(), players: z.number() })) });
type Leagues = z.infer<typeof Leagues>["leagues"];

/** How often a player asks for the leagues of the manager. */
const CHECK_EVERY_MS = 5_000;

/** Registers a player. If no league of its games is open, it waits until one is opened. Rejects with StartError. */
export async function enterWhenOpen(joining: Joining): Promise<void> {
  const { enter, self, signal, manager } = joining;
  let hasReported = false;
  while (true) {
    // The leagues are listed before the attempt, so that one that is opened meanwhile is not missed.
    const known = stateOf(await leaguesAt(joining));
    try {
      return await enter();
    } catch (thrown) {
      if (!(thrown instanceof NoOpenLeague)) throw thrown;
      if (!hasReported) self.warn(`${thrown.message}. ${waitsFor(manager)}`);
      hasReported = true;
    }
    do {
      if (!(await self.clock.pause(CHECK_EVERY_MS, signal))) throw new StartError("stopped before it was registered");
    } while (stateOf(await leaguesAt(joining)) === known);
  }
}

/** Enters a player into the leagues that are opened when its leagues are over, until `signal` is aborted. Prints what it waits for. */
export async function enterLater(joining: Joining): Promise<void> {
  const { entered, self, signal, manager } = joining;
  const reported = new Set<string>();
  let tried = "";
  while (await self.clock.pause(CHECK_EVERY_MS, signal)) {
    const leagues = await leaguesAt(joining);
    // A manager that was restarted with another config no longer lists the leagues of the earlier one.
    const isOver = (leagueId: string): boolean =>
      (leagues?.find(({ league_id }) => league_id === leagueId)?.status ?? "completed") === "completed";
    const own = entered();
    if (leagues === null || !own.every(isOver)) continue;
    const over = own.filter((leagueId) => !reported.has(leagueId));
    if (over.length > 0)
      self.say(inOneLine(`${over.join(", ")} ${over.length === 1 ? "is" : "are"} over. ${waitsFor(manager)}`));
    for (const leagueId of over) reported.add(leagueId);
    const isNew = leagues.some(({ league_id, status }) => status !== "completed" && !own.includes(league_id));
    const state = stateOf(leagues);
    if (!isNew || state === tried) continue;
    tried = state;
    await enterNext(joining, own);
  }
}

/** Registers a player again, and prints the leagues that it has entered. */
async function enterNext({ enter, entered, self, signal }: Joining, before: readonly string[]): Promise<void> {
  try {
    await enter();
  } catch (thrown) {
    if (!(thrown instanceof StartError)) throw thrown;
    if (!signal.aborted && !(thrown instanceof NoOpenLeague)) self.warn(thrown.message);
    return;
  }
  const added = entered().filter((leagueId) => !before.includes(leagueId));
  if (added.length > 0) self.say(inOneLine(`registered in ${added.join(", ")}`));
}

const waitsFor = (manager: string): string =>
  `Waiting for the next league that is opened at ${manager}; Ctrl-C ends this player`;

/** A text that changes when a league is opened, starts or ends, or when the number of its players changes before its start. */
const stateOf = (leagues: Leagues | null): string =>
  JSON.stringify(leagues?.map(({ league_id, status, players }) => [league_id, status, status === "open" && players]));

/** Returns the leagues of the manager; null if it does not answer. */
async function leaguesAt({ manager, peers, self, signal, timeoutMs, ...joining }: Joining): Promise<Leagues | null> {
  const envelope = newEnvelope(
    "LIST_LEAGUES",
    joining.sender(),
    {},
    { messageId: self.ids.uuid(), at: self.clock.iso() },
  );
  const call = { timeoutMs, bearer: joining.token(), signal };
  const reply = await peers.message(manager, envelope, call).catch(asRefused);
  return (reply.ok && Leagues.safeParse(reply.value.payload).data?.leagues) || null;
}
