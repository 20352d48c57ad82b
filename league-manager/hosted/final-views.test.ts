import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { ok } from "#shared/lib/result.ts";
import type { MessageType } from "#shared/protocol/envelope.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { inboxEndpoint } from "../agents/registered-agent.ts";
import { oneMatch } from "../api/testing/streams.ts";
import { ALONE } from "../cluster/other-managers.ts";
import { Inboxes } from "../inbox/inboxes.ts";
import { ledgerOn, opened, profile, registered } from "../store/testing/ledger.ts";
import { HostedPlayers } from "./hosted-players.ts";

const MATCH = { league_id: "first", match_id: "R1M1", epoch: 1 };
const INVITATION = {
  ...MATCH,
  round_id: 1,
  game: "tic_tac_toe.v1",
  options: {},
  your_role: "x",
  roles: { x: "P1", o: "P2" },
  seed_commitment: "c".repeat(64),
  bot_seed: "b",
};
const RESULT = {
  ...MATCH,
  winner: "P1",
  final_scores: { P1: 1, P2: 0 },
  match_points: { P1: 3, P2: 0 },
  termination: "normal",
  reason: "three_in_a_row",
  seed: "seed",
  log_head: "",
};

/** Starts a league with the hosted player P1, which is invited to R1M1. The final position of the match is read when the test says so. */
async function startHosted() {
  const folder = mkdtempSync(join(tmpdir(), "final-views-"));
  const { ledger, db } = await ledgerOn(join(folder, "league-manager.sqlite"));
  const inboxes = new Inboxes(systemClock, 0.5);
  const finalView = Promise.withResolvers<unknown>();
  const asked: string[] = [];
  const errors: unknown[] = [];
  const hosted = new HostedPlayers({
    homes: ALONE.homes,
    ledger,
    inboxes,
    clock: systemClock,
    ids: systemIds,
    finalView(...match) {
      asked.push(match.join(" "));
      return finalView.promise;
    },
    onError: (thrown) => errors.push(thrown),
  });
  const write = profile("P1");
  const endpoint = inboxEndpoint("P1", true);
  if (write.type !== "profile") throw new Error("not a profile");
  const events = [opened("first"), ...oneMatch().slice(0, -1)];
  await ledger.execute(() =>
    ok({
      leagueEvents: events.map((event) => ({ leagueId: "first", event })),
      agentEvents: [{ agentId: "P1", event: registered("P1") }],
      writes: [{ ...write, profile: { ...write.profile, endpoint } }],
      reply: null,
    }),
  );
  hosted.start();
  onTestFinished(() => {
    hosted.stop();
    inboxes.close();
    db.close();
    rmSync(folder, { recursive: true });
  });
  const send = (type: MessageType, payload: object) => {
    const params = { name: "league_message", arguments: newEnvelope(type, "referee:REF01", payload) };
    return inboxes.ask("P1", { method: "tools/call", params }, new AbortController().signal);
  };
  expect((await send("GAME_INVITE", INVITATION)).kind).toBe("answered");
  const [completed] = oneMatch().slice(-1);
  return {
    hosted,
    finalView,
    asked,
    errors,
    send,
    complete: () =>
      ledger.execute(() =>
        ok({ leagueEvents: completed ? [{ leagueId: "first", event: completed }] : [], reply: null }),
      ),
    shown: () => hosted.player("P1").matches.get("first/R1M1"),
  };
}

test("the result of a match is shown with the final position, also if the store is slow", async () => {
  const { hosted, finalView, asked, complete, shown, send } = await startHosted();
  await complete();
  expect(asked).toEqual(["first R1M1 x"]);
  const isOver = (): boolean => shown()?.result !== null;
  const waiting = hosted.wait("P1", isOver, { timeoutMs: 20_000 });
  const sent = send("GAME_RESULT", RESULT);
  await systemClock.nextTurn();
  expect(shown()).toMatchObject({ result: null });
  finalView.resolve({ board: ["xxx", "oo.", "..."] });
  expect(await waiting).toBe(true);
  expect(shown()).toMatchObject({ result: RESULT, view: { board: ["xxx", "oo.", "..."] } });
  expect((await sent).kind).toBe("answered");
});

test("a final position that cannot be read is reported, and the result is shown without it", async () => {
  const { finalView, errors, complete, shown, send } = await startHosted();
  await complete();
  const before = shown()?.view;
  finalView.reject(new Error("the database does not answer"));
  expect((await send("GAME_RESULT", RESULT)).kind).toBe("answered");
  expect(shown()).toMatchObject({ result: RESULT, view: before });
  expect(errors).toEqual([new Error("the database does not answer")]);
});
