import { afterEach, expect, it } from "vitest";
import { replay } from "#shared/session/replay.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import {
  type AskedQuestion,
  answerTo,
  MODELS,
  people,
  questionIn,
  round,
  stateIn,
  withRightWords,
} from "../../../referee/codenames/testing/answers.ts";
import { connectHost } from "../../../referee/codenames/testing/host.ts";
import { SESSION_SCHEMA, sessionStore } from "../../../referee/sessions/session-store.ts";
import { startKillableHost } from "../../testing/killable-host.ts";
import { cleanUp } from "../../testing/processes.ts";

afterEach(cleanUp);

it("a game continues after a SIGKILL of its host, with the state of the last round and with the game token", async () => {
  const host = await startKillableHost();
  const { url, database } = host;

  // Stateless requests: the host is killed between a question and its answer.
  const sampling = { capabilities: { sampling: {} } };
  let open = await round(url, "create_new_game", MODELS, sampling);
  const key = questionIn(open).text;
  const token: string = open.result._meta["agent-league/game_token"];
  const next = (current: typeof open, n: number) =>
    round(url, "create_new_game", MODELS, {
      ...sampling,
      inputResponses: answerTo(withRightWords(questionIn(current), key), n),
      requestState: current.result.requestState,
    });
  for (let n = 1; n <= 4; n++) {
    await host.kill();
    const previous = open;
    open = await next(previous, n);
    expect(stateIn(open.result.requestState)).toMatchObject({ game_id: stateIn(previous.result.requestState).game_id });
    // A repeated answer has no second effect.
    const again = await next(previous, n);
    expect(stateIn(again.result.requestState)).toEqual(stateIn(open.result.requestState));
  }

  // MCP session: the open call is lost with the host, and another client continues the game with the token.
  const question = Promise.withResolvers<AskedQuestion>();
  const neverAnswered = Promise.withResolvers<never>();
  const waiting = await connectHost(`${url}/mcp`, "session", {
    ...people(),
    prompt: async (prompt) => {
      const recorder = people();
      await recorder.prompt(prompt, new AbortController().signal);
      question.resolve(recorder.questions[0] as AskedQuestion);
      return neverAnswered.promise;
    },
  });
  const lostCall = waiting
    .call("continue_game", { game_token: token }, { signal: AbortSignal.timeout(20_000) })
    .catch(() => null);
  const openQuestion = await question.promise;
  await host.kill();
  await waiting.close();
  await lostCall;
  const players = people();
  const secondClient = await connectHost(`${url}/mcp`, "session", players);
  const { structuredContent: end } = await secondClient.call("continue_game", { game_token: token });
  await secondClient.close();
  expect(players.questions[0]).toEqual(openQuestion);
  expect(end.status).toBe("completed");
  await host.stop();

  const db = openSqlite(database, SESSION_SCHEMA);
  const store = sessionStore(db, testWriter(db));
  const rows = store.log.read(end.game_id);
  const replayed = replay(rows, store.about(end.game_id)?.seed ?? "");
  expect(replayed).toMatchObject({ ok: true, value: { tick: rows.length - 1, status: "completed" } });
  db.close();
});
