import { afterEach, expect, it } from "vitest";
import { replay } from "#shared/session/replay.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import {
  type Asked,
  answerTo,
  askedIn,
  knowing,
  MODELS,
  people,
  round,
  stateIn,
} from "../../../referee/codenames/testing/answers.ts";
import { connectHost } from "../../../referee/codenames/testing/host.ts";
import { SESSION_SCHEMA, sessionStore } from "../../../referee/sessions/session-store.ts";
import { startKillableHost } from "../../testing/killable-host.ts";
import { cleanUp } from "../../testing/processes.ts";

afterEach(cleanUp);

/** The referee as a real process, killed outright while a game of Codenames waits for an answer, and started again on the same data. */
it("a game goes on after a SIGKILL exactly there, by the state of its last round and by its token", async () => {
  const host = await startKillableHost();
  const { url, database } = host;

  // By rounds: the referee dies between the question and its answer.
  const sampling = { capabilities: { sampling: {} } };
  let open = await round(url, "create_new_game", MODELS, sampling);
  const key = askedIn(open).text;
  const token: string = open.result._meta["agent-league/game_token"];
  const next = (of: typeof open, n: number) =>
    round(url, "create_new_game", MODELS, {
      ...sampling,
      inputResponses: answerTo(knowing(askedIn(of), key), n),
      requestState: of.result.requestState,
    });
  for (let n = 1; n <= 4; n++) {
    await host.kill();
    const old = open;
    open = await next(old, n);
    expect(stateIn(open.result.requestState)).toMatchObject({ game_id: stateIn(old.result.requestState).game_id });
    // What was acknowledged is there: the same answer, sent again, counts no second time.
    const again = await next(old, n);
    expect(stateIn(again.result.requestState)).toEqual(stateIn(open.result.requestState));
  }

  // In a session: the call is lost with its process, and another goes on with the token.
  const stuck = Promise.withResolvers<Asked>();
  const silence = Promise.withResolvers<never>();
  silence.promise.catch(() => {});
  const waiting = await connectHost(`${url}/mcp`, "session", {
    ...people(),
    prompt: async (prompt) => {
      const everybody = people();
      await everybody.prompt(prompt, new AbortController().signal);
      stuck.resolve(everybody.asked[0] as Asked);
      return silence.promise;
    },
  });
  const lost = waiting
    .call("continue_game", { game_token: token }, { signal: AbortSignal.timeout(20_000) })
    .catch(() => null);
  const before = await stuck.promise;
  await host.kill();
  await waiting.close();
  await lost;
  const everybody = people();
  const heir = await connectHost(`${url}/mcp`, "session", everybody);
  const { structuredContent: end } = await heir.call("continue_game", { game_token: token });
  await heir.close();
  expect(everybody.asked[0]).toEqual(before);
  expect(end.status).toBe("completed");
  await host.stop();

  const db = openSqlite(database, SESSION_SCHEMA);
  const store = sessionStore(db, testWriter(db));
  const rows = store.log.read(end.game_id);
  const replayed = replay(rows, store.about(end.game_id)?.seed ?? "");
  expect(replayed).toMatchObject({ ok: true, value: { tick: rows.length - 1, status: "completed" } });
  db.close();
}, 60_000);
