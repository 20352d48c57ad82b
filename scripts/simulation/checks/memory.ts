import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { World } from "../machines/world.ts";
import type { Plan } from "../plan.ts";

const PLAYERS = 20;
const LEAGUE: Plan = {
  seed: "memory",
  game: { id: "even_odd.v1", options: {} },
  referees: 3,
  players: Array.from({ length: PLAYERS }, () => "well" as const),
  disturbances: [],
};
/** Memory is measured after so many matches: when all agents are busy, and close to the end. */
const [FIRST, LAST] = [40, 180] as const;
/** The manager keeps 2.9 kB for each result and its pairing. A session or a player's match that is kept takes 4 kB more. */
const MOST_BYTES = 4_800;

/** Plays a long league. Returns a fault if the agents keep more memory for each match than the manager needs for its result. */
export async function faultsOfMemory(): Promise<readonly string[]> {
  await memoryOfLeague(); // compiles the code and builds what V8 keeps for it
  const { bytes, faults } = await memoryOfLeague();
  return bytes > MOST_BYTES
    ? [...faults, `each match leaves ${Math.round(bytes)} bytes in memory, more than ${MOST_BYTES}`]
    : faults;
}

async function memoryOfLeague(): Promise<{ readonly bytes: number; readonly faults: readonly string[] }> {
  let results = 0;
  const world = new World(LEAGUE, {
    onRequest: () => {},
    onAnswer: (_, reply) => {
      if (reply.includes("MATCH_RESULT_RESPONSE")) results++;
    },
    onCommitted: () => {},
    trace: () => {},
  });
  const memoryAfter = async (matches: number): Promise<number> => {
    while (results < matches && (await world.step()));
    return usedMemory();
  };
  const first = await memoryAfter(FIRST);
  const bytes = ((await memoryAfter(LAST)) - first) / (LAST - FIRST);
  await world.stop();
  return { bytes, faults: [...world.faults] };
}

/** Bytes of JavaScript objects in use, without compiled code. */
function usedMemory(): number {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  for (let times = 0; times < 2; times++) collectGarbage();
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => /^(new|old|large_object|new_large_object)_space$/.test(space_name))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}
