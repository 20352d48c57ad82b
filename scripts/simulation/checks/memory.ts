import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { World } from "../machines/world.ts";
import { type Plan, timeLimitMs } from "../plan.ts";
import { type Fault, faultsOf } from "./rules.ts";

const PLAYERS = 20;
const LEAGUE: Plan = {
  seed: "memory",
  game: { id: "even_odd.v1", options: {} },
  referees: 3,
  players: Array.from({ length: PLAYERS }, () => "well" as const),
  contacts: Array.from({ length: PLAYERS }, (_, n) => (n % 4 === 0 ? "handle message" : "endpoint")),
  disturbances: [],
  managers: 1,
  withoutSockets: [],
};
/** Memory is measured after these numbers of matches: when all agents are busy, and close to the end. */
const [FIRST, LAST] = [40, 180] as const;
/** The limit for each match. The manager keeps 2.9 kB for a result with its pairing. A session or a player's match that stays in memory takes 4 kB. */
const MAX_BYTES = 4_800;

/** Plays a long league twice. Resolves with a fault if the agents keep more memory for each match than the manager needs for the result. */
export async function faultsOfMemory(): Promise<readonly Fault[]> {
  await playLeague(); // lets V8 compile the code
  const { results, bytes, faults } = await playLeague();
  const found: string[] = [];
  if (results < LAST) found.push(`only ${results} of ${LAST} matches were played`);
  if (bytes > MAX_BYTES) found.push(`each match leaves ${Math.round(bytes)} bytes in memory, more than ${MAX_BYTES}`);
  return [...faults, ...faultsOf("memory", found)];
}

interface LeagueMemory {
  readonly results: number;
  /** The memory that remains for each match. */
  readonly bytes: number;
  readonly faults: Iterable<Fault>;
}

async function playLeague(): Promise<LeagueMemory> {
  let results = 0;
  const world = new World(LEAGUE, {
    onRequest: () => {},
    onAnswer: (_, reply) => {
      if (reply.includes("MATCH_RESULT_RESPONSE")) results++;
    },
    onCommitted: () => {},
    onProcess: () => {},
    onView: () => {},
    trace: () => {},
  });
  const memoryAfter = async (matches: number): Promise<number> => {
    await world.play(() => results >= matches, timeLimitMs(LEAGUE));
    return usedMemory();
  };
  const first = await memoryAfter(FIRST);
  const bytes = ((await memoryAfter(LAST)) - first) / (LAST - FIRST);
  await world.stop();
  return { results, bytes, faults: world.faults };
}

/** Returns the bytes of JavaScript objects in use, without compiled code. */
function usedMemory(): number {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  for (let times = 0; times < 2; times++) collectGarbage();
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => /^(new|old|large_object|new_large_object)_space$/.test(space_name))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}
