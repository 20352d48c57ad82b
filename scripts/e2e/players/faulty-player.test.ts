import { describe, expect, it, type TestContext } from "vitest";
import {
  type FaultKind,
  type FaultyPlayer,
  type FaultyPlayerOptions,
  startFaultyPlayer,
} from "../../testing/faulty-player.ts";
import {
  startTestLeague,
  type TestLeague,
  type TestLeagueOptions,
  type TestPlayer,
} from "../../testing/in-process-league.ts";

/** The league waits for silent players for this time. The other players must answer within it on a slow machine. */
const MOVE_MS = 5_000;
/** The fault of a player, the request at which it occurs, and the code and the cause of the forfeit. */
const rows: readonly [FaultKind, FaultyPlayerOptions["at"], "G001" | "G002", string][] = [
  // The last attempt to reach the player may be cut off by the limit.
  ["refuse", "MOVE_REQUEST", "G002", "refused|timeout"],
  ["silent", "GAME_INVITE", "G002", "timeout"],
  ["silent", "MOVE_REQUEST", "G002", "timeout"],
  ["late", "GAME_INVITE", "G002", "timeout"],
  ["late", "MOVE_REQUEST", "G002", "timeout"],
  ["drop", "MOVE_REQUEST", "G002", "refused|timeout"],
  ["http_500", "GAME_INVITE", "G001", "http_error"],
  ["http_500", "MOVE_REQUEST", "G001", "http_error"],
  ["not_json", "GAME_INVITE", "G001", "bad_json"],
  ["not_json", "MOVE_REQUEST", "G001", "bad_json"],
  ["not_json_rpc", "MOVE_REQUEST", "G001", "bad_reply"],
  ["text_not_json", "MOVE_REQUEST", "G001", "bad_json"],
  ["text_no_envelope", "GAME_INVITE", "G001", "bad_reply"],
  ["text_no_envelope", "MOVE_REQUEST", "G001", "bad_reply"],
  ["wrong_id", "MOVE_REQUEST", "G001", "bad_reply"],
  ["illegal", "MOVE_REQUEST", "G001", "illegal_move"],
  ["long_move", "MOVE_REQUEST", "G001", "illegal_move"],
  ["odd_rpc_error", "GAME_INVITE", "G001", "bad_reply"],
  ["odd_rpc_error", "MOVE_REQUEST", "G001", "bad_reply"],
  ["odd_game_error", "MOVE_REQUEST", "G001", "bot_error"],
  ["deep_game_error", "MOVE_REQUEST", "G001", "bot_error"],
  ["decline", "GAME_INVITE", "G001", "declined"],
  ["decline_with_token", "GAME_INVITE", "G001", "declined"],
  ["other_sender", "GAME_INVITE", "G001", "bad_reply"],
  ["other_sender", "MOVE_REQUEST", "G001", "bad_reply"],
  ["other_request", "GAME_INVITE", "G001", "bad_reply"],
  ["other_request", "MOVE_REQUEST", "G001", "bad_reply"],
  ["other_match", "MOVE_REQUEST", "G001", "bad_reply"],
  ["other_tick", "MOVE_REQUEST", "G001", "bad_reply"],
  ["too_large", "MOVE_REQUEST", "G001", "too_large"],
  ["many_tokens", "MOVE_REQUEST", "G001", "bad_json"],
  ["not_ascii", "MOVE_REQUEST", "G001", "bad_json"],
  ["token_at_cut", "MOVE_REQUEST", "G001", "bad_json"],
];
/** Faults without an answer that could be recorded. */
const WITHOUT_RAW: readonly FaultKind[] = ["refuse", "silent", "late", "drop"];
const RAW_BYTES = 2_048;
/** The number of leading characters of a token that must not be published. */
const TOKEN_PREFIX_LENGTH = 12;

/** Starts a league that is stopped at the end of the test. The tests run concurrently, because they wait for silent players. */
async function start(test: TestContext, options: TestLeagueOptions): Promise<TestLeague> {
  const timeouts = { move_ms: MOVE_MS, join_ms: MOVE_MS, ...options.timeouts };
  const league = await startTestLeague({ ...options, timeouts });
  test.onTestFinished(() => league.stop());
  return league;
}

const rps = [{ league_id: "rps", game: "rps.v1" }];
const good = (name: string): TestPlayer => ({ name, bot: "random" });

/** Returns a faulty player for the options of a league, and functions that return its tokens and the messages that it has received. */
function faulty(name: string, options: Pick<FaultyPlayerOptions, "fault" | "at" | "when">) {
  const started: FaultyPlayer[] = [];
  const player: TestPlayer = {
    name,
    async start(place) {
      const one = await startFaultyPlayer({ ...options, ...place, lateMs: MOVE_MS * 2 });
      started.push(one);
      return one;
    },
  };
  return {
    player,
    tokens: () => started.flatMap((one) => one.tokens),
    received: () => started.flatMap((one) => one.received),
  };
}

describe.concurrent("a player", () => {
  it.for(rows)("with the fault %s at %s loses by forfeit with %s %s", async ([fault, at, code, cause], test) => {
    const { player, tokens } = faulty("Faulty", { fault, ...(at && { at }) });
    // The time limits are short only if the referee must wait for them.
    const timeouts = code === "G002" ? {} : { move_ms: 10_000, join_ms: 10_000 };
    const { completed, match } = await start(test, { leagues: rps, players: [player, good("B"), good("C")], timeouts });
    const [played] = (await completed).leagues;
    expect(played?.status).toBe("completed");
    expect(played?.matches).toHaveLength(3);
    for (const one of played?.matches ?? []) {
      const read = await match("rps", one.match_id);
      const others = Object.values(one.roles).filter((id) => id !== "P01");
      if (others.length === 2) {
        expect(one.termination).toBe("normal");
        expect(read.result.faults).toEqual([]);
        continue;
      }
      expect(one).toMatchObject({
        termination: "forfeit",
        winner: others[0],
        points: { P01: 0, [others[0] ?? ""]: 3 },
      });
      expect(read.result.faults).toMatchObject([
        { player_id: "P01", code, cause: expect.stringMatching(`^(${cause})$`) },
      ]);
      const { raw, detail = "" } = read.result.faults[0] ?? {};
      expect(detail).not.toBe("");
      expect(raw !== undefined, `raw answer kept: ${raw}`).toBe(!WITHOUT_RAW.includes(fault));
      expect(Buffer.byteLength(raw ?? "")).toBeLessThanOrEqual(RAW_BYTES);
      const published = JSON.stringify(read);
      expect(tokens().length).toBeGreaterThan(0);
      expect(tokens().filter((token) => published.includes(token.slice(0, TOKEN_PREFIX_LENGTH)))).toEqual([]);
    }
    expect(played?.standings.find((row) => row.player_id === "P01")).toMatchObject({ losses: 2, points: 0 });
  });

  it.for([
    ["even_odd.v1", "illegal"],
    ["even_odd.v1", "long_move"],
    ["chess.v1", "illegal"],
    ["chess.v1", "long_move"],
    ["chess.v1", "silent"],
  ] as const)("loses by forfeit in %s with the fault %s", async ([game, fault], test) => {
    const { player } = faulty("Faulty", { fault });
    const { completed } = await start(test, { leagues: [{ league_id: "one", game }], players: [player, good("B")] });
    expect((await completed).leagues[0]?.matches).toMatchObject([
      { termination: "forfeit", winner: "P02", points: { P01: 0, P02: 3 } },
    ]);
  });
});

describe.concurrent("an illegal move", () => {
  it.for(["even_odd.v1", "rps.v1", "chess.v1"])(
    "is not charged if it is followed by a legal move within the time limit, in %s",
    async (game, test) => {
      const { player, received } = faulty("Faulty", { fault: "illegal_once" });
      const { completed } = await start(test, {
        leagues: [{ league_id: "one", game }],
        players: [player, good("B")],
        timeouts: { move_ms: 5_000 },
      });
      expect((await completed).leagues[0]?.matches).toMatchObject([{ termination: "normal" }]);
      const repeats = received().filter((request) => request.payload.error !== undefined);
      expect(repeats.length).toBeGreaterThan(0);
      expect(repeats[0]?.payload.error).toMatchObject({ error_code: "G001", error_name: "INVALID_MOVE" });
    },
  );
});

describe.concurrent("two players", () => {
  it.for([
    ["silent", "illegal"],
    ["silent", "silent"],
    ["decline", "silent"],
  ] as const)("with the faults %s and %s in one turn both lose, without a winner", async ([first, second], test) => {
    const at = first === "decline" ? "GAME_INVITE" : "MOVE_REQUEST";
    const a = faulty("A", { fault: first, at });
    const b = faulty("B", { fault: second, at });
    const { completed, match } = await start(test, { leagues: rps, players: [a.player, b.player] });
    const [played] = (await completed).leagues;
    expect(played?.matches).toMatchObject([{ termination: "forfeit", winner: null, points: { P01: 0, P02: 0 } }]);
    const { faults } = (await match("rps", "R1M1")).result;
    expect(faults.map((fault) => fault.player_id).sort()).toEqual(["P01", "P02"]);
    expect(played?.standings.map((row) => [row.player_id, row.losses, row.draws, row.points])).toEqual([
      ["P01", 1, 0, 0],
      ["P02", 1, 0, 0],
    ]);
  });
});
