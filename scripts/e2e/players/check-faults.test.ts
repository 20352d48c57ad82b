import { describe, expect, it, type TestContext } from "vitest";
import { evenOdd } from "#shared/games/even-odd.ts";
import { rps } from "#shared/games/rps.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { httpNetwork } from "#shared/rpc/network.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { Caller } from "../../check/caller.ts";
import { type CheckResult, checkPlayer, type Outcome } from "../../check/check-player.ts";
import { documentOf } from "../../check/check-report.ts";
import { Matches, withDialect } from "../../check/matches.ts";
import { openRegistrationDesk } from "../../check/registration-desk.ts";
import { urlPlayer } from "../../check/subject.ts";
import { type FaultKind, type FaultyPlayerOptions, startFaultyPlayer } from "../../testing/faulty-player.ts";
import { type ForeignPlayerOptions, foreignPlayer } from "../../testing/foreign-player.ts";
import type { TestPlayer } from "../../testing/in-process-league.ts";

/** Short, because the checks wait for silent players. With 1 s, a busy machine has no time for the answer to the last repetition of a call. */
const LIMIT_MS = 3_000;

/** Registers a faulty player at the manager of a check, and checks it. */
async function check(test: TestContext, fault: FaultKind, at: FaultyPlayerOptions["at"], limitMs: number) {
  const network = httpNetwork(systemClock);
  const capabilities = { network, clock: systemClock, ids: systemIds };
  const caller = new Caller(systemClock, systemIds);
  const { lateAnswers } = caller.peers;
  const desk = await openRegistrationDesk({ ...capabilities, lateAnswers, host: "127.0.0.1", ports: [0] });
  test.onTestFinished(() => desk.close());
  const place = { manager: `${desk.url}/mcp`, name: "Faulty", port: await freePort() };
  const player = await startFaultyPlayer({ ...place, fault, ...(at && { at }), lateMs: LIMIT_MS * 2 });
  test.onTestFinished(() => player.stop());
  let secrets: readonly string[] = [];
  const results = await checkPlayer({
    clock: systemClock,
    ids: systemIds,
    subject: await desk.registered,
    registration: desk.record,
    caller,
    only: null,
    games: [rps as never],
    moveMs: limitMs,
    joinMs: limitMs,
    onResult: (_, known) => {
      secrets = known;
    },
  });
  const text = JSON.stringify(documentOf(await desk.registered, results, secrets));
  return { results, text, tokens: player.tokens };
}

type At = NonNullable<FaultyPlayerOptions["at"]>;
/** The number of the check that finds a fault, its outcome if it is not `fail`, and a part of the advice. */
type Diagnosis = readonly [number: number, advice: string, outcome?: Outcome];

const ANSWER_FORM = 'Answer with {"jsonrpc": "2.0", "id": ID, "result":';
const SENDER = "Set sender to player:P01";
const diagnoses: Readonly<Record<Exclude<FaultKind, "none">, Partial<Record<At, Diagnosis>>>> = {
  refuse: { MOVE_REQUEST: [2, "Start the server before you register"] },
  silent: { GAME_INVITE: [4, "Answer every POST immediately"], MOVE_REQUEST: [6, "Answer every POST immediately"] },
  late: {
    GAME_INVITE: [4, "Answer an invitation as soon as it arrives"],
    MOVE_REQUEST: [6, "Answer before the deadline"],
  },
  http_500: { GAME_INVITE: [3, "The handler of your program has failed"], MOVE_REQUEST: [6, "The handler of your"] },
  not_json: { GAME_INVITE: [3, ANSWER_FORM], MOVE_REQUEST: [6, ANSWER_FORM] },
  not_json_rpc: { GAME_INVITE: [3, ANSWER_FORM], MOVE_REQUEST: [6, ANSWER_FORM] },
  text_not_json: { GAME_INVITE: [3, ANSWER_FORM], MOVE_REQUEST: [6, ANSWER_FORM] },
  text_no_envelope: { GAME_INVITE: [3, "An envelope has protocol"], MOVE_REQUEST: [6, "An envelope has protocol"] },
  wrong_id: { GAME_INVITE: [3, "Return the id of the request"], MOVE_REQUEST: [6, "Return the id of the request"] },
  illegal: { MOVE_REQUEST: [6, "Return one of legal_actions as move"] },
  illegal_once: { MOVE_REQUEST: [6, "Return one of legal_actions as move", "warn"] },
  long_move: { MOVE_REQUEST: [6, "Return one of legal_actions as move"] },
  decline: { GAME_INVITE: [4, "Accept every invitation to a game"] },
  decline_with_token: { GAME_INVITE: [4, "Accept every invitation to a game"] },
  other_sender: { GAME_INVITE: [4, SENDER], MOVE_REQUEST: [6, SENDER] },
  other_request: { GAME_INVITE: [3, "Set correlation_id to"], MOVE_REQUEST: [6, "Set correlation_id to"] },
  other_match: { MOVE_REQUEST: [6, "copy match_id and tick"] },
  other_tick: { MOVE_REQUEST: [6, "copy match_id and tick"] },
  // Correct in matches of one round.
  first_tick: { MOVE_REQUEST: [6, "copy match_id and tick"] },
  ends_later: { MOVE_REQUEST: [6, "it has answered earlier requests and has ended"] },
  too_large: { GAME_INVITE: [3, "at most 256 kB"], MOVE_REQUEST: [6, "at most 256 kB"] },
  many_tokens: { MOVE_REQUEST: [6, ANSWER_FORM] },
  not_ascii: { MOVE_REQUEST: [6, ANSWER_FORM] },
  token_at_cut: { MOVE_REQUEST: [6, ANSWER_FORM] },
  odd_rpc_error: { GAME_INVITE: [3, "Accept this request"], MOVE_REQUEST: [6, "Accept this request"] },
  odd_game_error: { GAME_INVITE: [4, "not with an error"], MOVE_REQUEST: [6, "not with an error"] },
  deep_game_error: { MOVE_REQUEST: [6, "not with an error"] },
  drop: { GAME_INVITE: [4, "Send a content-length"], MOVE_REQUEST: [6, "Send a content-length"] },
  short_body: { GAME_INVITE: [4, "Send a content-length"], MOVE_REQUEST: [6, "Send a content-length"] },
};
const rows = Object.entries(diagnoses).flatMap(([fault, byMessage]) =>
  Object.entries(byMessage).map(([at, diagnosis]) => [fault as FaultKind, at as At, diagnosis] as const),
);
/** Checks that a correct player without signature checks does not pass. */
const WARNED = [12];
const FAULTS_OF_TIME: readonly FaultKind[] = ["silent", "late", "drop", "short_body", "ends_later"];

describe.concurrent("league check", () => {
  it.for(rows)(
    "diagnoses a player with the fault %s at %s",
    async ([fault, at, [number, advice, outcome = "fail"]], test) => {
      const limitMs = FAULTS_OF_TIME.includes(fault) ? LIMIT_MS : 20_000;
      const { results, text, tokens } = await check(test, fault, at, limitMs);
      const found = (wanted: Outcome): readonly CheckResult[] => results.filter((result) => result.outcome === wanted);
      const diagnosed = found(outcome).filter((result) => !WARNED.includes(result.number) || outcome === "fail");
      expect(diagnosed.map((result) => result.number)).toEqual([number]);
      expect(diagnosed[0]?.findings.map((finding) => finding.advice)).toEqual([expect.stringContaining(advice)]);
      expect(diagnosed[0]?.findings[0]?.exchanges.length).toBe(1);
      // One fault is reported once: the checks that depend on the failed one name it.
      const because = new Set(found("skipped").map((result) => result.becauseOf));
      expect(because).toEqual(outcome === "fail" ? new Set([number]) : new Set());
      expect(tokens.filter((token) => text.includes(token.slice(0, 12)))).toEqual([]);
    },
  );

  it("passes a correct player that does not check signatures, with one warning", async (test) => {
    const { results } = await check(test, "none", undefined, 20_000);
    expect(results.map(({ number, outcome }) => [number, outcome])).toEqual(
      Array.from({ length: 13 }, (_, index) => [index + 1, index === 11 ? "warn" : "pass"]),
    );
  });
});

/** The checks without broken messages, which the player of the tests does not survive. */
const WITHOUT_BROKEN_MESSAGES = ["repeated", "slow-network", "parallel", "token"] as const;

/** Checks a player of the classroom: at its registration, or at its URL. */
async function checkForeign(
  test: TestContext,
  options: Partial<ForeignPlayerOptions>,
  isRegistered: boolean,
  joinMs = 20_000,
) {
  const caller = new Caller(systemClock, systemIds);
  const network = httpNetwork(systemClock);
  const { lateAnswers } = caller.peers;
  const capabilities = { network, clock: systemClock, ids: systemIds };
  const desk = await openRegistrationDesk({ ...capabilities, lateAnswers, host: "127.0.0.1", ports: [0] });
  test.onTestFinished(() => desk.close());
  const port = await freePort();
  const { start } = foreignPlayer({ name: "Ann", ...options }) as Extract<TestPlayer, { start: unknown }>;
  const player = await start({ name: "Ann", manager: `${desk.url}/mcp`, port, dataFolder: "" });
  test.onTestFinished(() => player.stop());
  const matches = new Matches(caller, systemClock, systemIds, { join_ms: 20_000, move_ms: 20_000 });
  const endpoint = `http://127.0.0.1:${port}/mcp`;
  const byUrl = urlPlayer({ endpoint, token: null, games: [evenOdd as never], refereeEndpoint: `${desk.url}/mcp` });
  const subject = isRegistered ? await desk.registered : await withDialect(matches, byUrl);
  const results = await checkPlayer({
    clock: systemClock,
    ids: systemIds,
    caller,
    subject,
    registration: isRegistered ? desk.record : null,
    only: WITHOUT_BROKEN_MESSAGES,
    games: null,
    moveMs: 20_000,
    joinMs,
    onResult: () => {},
  });
  return { subject, results };
}

describe("league check", () => {
  it.for([true, false])("finds the dialect of a player and passes it (registered: %s)", async (isRegistered, test) => {
    const { subject, results } = await checkForeign(test, {}, isRegistered);
    expect(subject.dialect).toBe("classroom:tool:params");
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(["pass"]));
  });

  it("diagnoses a player of the classroom whose answers have no content", async (test) => {
    const { results } = await checkForeign(test, { answer: () => ({ status: "ok" }) }, true, LIMIT_MS);
    const [failed] = results.filter(({ outcome }) => outcome === "fail");
    expect(failed).toMatchObject({
      number: 4,
      findings: [{ advice: expect.stringContaining("for example accept: true") }],
    });
  });
});
