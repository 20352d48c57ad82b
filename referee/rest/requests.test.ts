import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ErrorBody } from "./openapi.ts";
import { type Answer, startTestHost, type TestAgent, type TestHost } from "./testing/host.ts";

let host: TestHost;
let white: TestAgent;
let black: TestAgent;
let outsider: TestAgent;
let chess: string;

beforeAll(async () => {
  host = await startTestHost();
  [white, black, outsider] = await Promise.all([host.agent(), host.agent(), host.agent()]);
  chess = await host.session("chess.v1", { white, black });
});
afterAll(() => host.remove());

function expectRejection(answer: Answer, status: number, code: string): string {
  expect({ status: answer.status, body: answer.json }).toMatchObject({ status, body: { error: { code } } });
  expect(answer.text).not.toMatch(/\bat .*\.ts|node_modules|Error:/);
  return ErrorBody.parse(answer.json).error.message;
}

const deep = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const participants = () => ({ white: white.agent_id, black: black.agent_id });

/** Bodies that every endpoint rejects, with the expected messages. */
const invalidBodies: Readonly<Record<string, readonly [string, RegExp]>> = {
  "no JSON": ["e2e4", /not JSON/],
  "cut JSON": ['{"action":', /not JSON/],
  "an array": ["[]", /must be an object/],
  "a string": ['"e2e4"', /must be an object/],
  null: ["null", /must be an object/],
  "deep nesting": [deep(2_000), /must be an object|not JSON/],
  "deep nesting inside": [`{"action":${deep(10_000)},"template":1,"expected_tick":0}`, /./],
  __proto__: ['{"__proto__":{"action":"e2e4"},"action":"e2e4","expected_tick":0}', /__proto__/],
  "__proto__ escaped": ['{"\\u005f_proto__":1,"action":"e2e4","expected_tick":0}', /__proto__/],
  "__proto__ inside": [`{"template":"chess.v1","participants":{"__proto__":"x"}}`, /__proto__/],
  "unknown fields": [`{"action":"e2e4","expected_tick":0,"role":"white"}`, /unknown field "role"|template: is missing/],
};

describe("bodies", () => {
  it("may begin with a byte order mark", async () => {
    const body = `\uFEFF${JSON.stringify({ template: "chess.v1", participants: participants() })}`;
    expect((await host.call("POST", "/sessions", { token: white.token, body })).status).toBe(201);
    expect((await host.call("POST", "/agents", { body: "\uFEFF" })).status).toBe(201);
  });

  it.each(Object.entries(invalidBodies))(
    "with %s are INVALID_REQUEST at every POST route",
    async (_, [body, reason]) => {
      const paths = ["/agents", "/sessions", `/sessions/${chess}/actions`];
      for (const path of paths) {
        const message = expectRejection(
          await host.call("POST", path, { token: white.token, body }),
          400,
          "INVALID_REQUEST",
        );
        if (path !== "/agents")
          expect(message).toMatch(
            reason.source === "." ? reason : new RegExp(`${reason.source}|unknown field|is missing`),
          );
      }
      expect((await host.call("GET", `/sessions/${chess}/state`, { token: white.token })).json.tick).toBe(0);
    },
  );

  it.each(["/agents", "/sessions"])("of 1 MB are 413 at %s", async (path) => {
    const body = JSON.stringify({ action: "x".repeat(1024 * 1024) });
    expectRejection(await host.call("POST", path, { token: white.token, body }), 413, "INVALID_REQUEST");
  });

  it("of 65,536 bytes are accepted, and of one byte more are 413", async () => {
    const body = JSON.stringify({ template: "chess.v1", participants: participants() });
    const taken = await host.call("POST", "/sessions", { token: white.token, body: body.padEnd(65_536, " ") });
    expect(taken.status).toBe(201);
    const more = await host.call("POST", "/sessions", { token: white.token, body: body.padEnd(65_537, " ") });
    expectRejection(more, 413, "INVALID_REQUEST");
  });

  it("of 1 MB without a Content-Length are 413", async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { authorization: `Bearer ${white.token}` };
      const sent = request(`${host.url}/sessions`, { method: "POST", headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.once("error", reject);
      for (let part = 0; part < 16; part++) sent.write("x".repeat(64 * 1024));
      sent.end();
    });
    expect(status).toBe(413);
  });

  it.each([
    [{}, "action"],
    [{ expected_tick: 0 }, "action"],
    [{ action: "e2e4" }, "expected_tick"],
    [{ action: "e2e4", expected_tick: "0" }, "expected_tick"],
    [{ action: "e2e4", expected_tick: null }, "expected_tick"],
    [{ action: "e2e4", expected_tick: -1 }, "expected_tick"],
    [{ action: "e2e4", expected_tick: 0.5 }, "expected_tick"],
    [{ action: "e2e4", expected_tick: 1e300 }, "expected_tick"],
  ])("of an action %j are INVALID_REQUEST with the name of the field", async (body, field) => {
    const answer = await host.call("POST", `/sessions/${chess}/actions`, { token: white.token, body });
    expect(expectRejection(answer, 400, "INVALID_REQUEST")).toContain(field);
  });

  it.each([null, 7, true, "", "e9e4", "e2e4 ", "♞", "x".repeat(10_000), {}, ["e2e4"], { uci: "e2e4" }, [[[[]]]]])(
    "with the chess move %j are INVALID_ACTION",
    async (action) => {
      const body = { action, expected_tick: 0 };
      expectRejection(
        await host.call("POST", `/sessions/${chess}/actions`, { token: white.token, body }),
        400,
        "INVALID_ACTION",
      );
    },
  );
});

it("in a simultaneous turn only an expected_tick of a closed turn is rejected, and null equals absent", async () => {
  const seats = { player_1: white, player_2: black };
  const id = await host.session("rps.v1", seats, { options: { best_of: 5 } });
  const act = async ({ token }: TestAgent, action: string, expected_tick: number | null) => {
    const answer = await host.call("POST", `/sessions/${id}/actions`, { token, body: { action, expected_tick } });
    return answer.json.error?.code ?? answer.json.tick;
  };
  expect([await act(white, "rock", null), await act(black, "paper", 99)]).toEqual([1, 2]);
  expect([await act(white, "rock", 0), await act(white, "rock", 1)]).toEqual(["CONFLICT", "CONFLICT"]);
  expect([await act(white, "rock", 3), await act(white, "rock", null)]).toEqual([3, "ALREADY_ACTED"]);
});

describe("POST /sessions", () => {
  const create = (body: unknown, token = white.token) => host.call("POST", "/sessions", { token, body });

  it.each([
    ["no template", () => ({ participants: participants() }), "template"],
    ["an unknown template", () => ({ template: "go.v1", participants: participants() }), "chess.v1"],
    ["a template of Object", () => ({ template: "constructor", participants: participants() }), "template"],
    ["no participants", () => ({ template: "chess.v1" }), "participants"],
    ["a missing role", () => ({ template: "chess.v1", participants: { white: white.agent_id } }), "white and black"],
    [
      "a repeated role",
      () => `{"template":"chess.v1","participants":{"white":"${white.agent_id}","white":"${white.agent_id}"}}`,
      "white and black",
    ],
    [
      "an additional role",
      () => ({ template: "chess.v1", participants: { ...participants(), red: outsider.agent_id } }),
      "white and black",
    ],
    ["roles of another game", () => ({ template: "rps.v1", participants: participants() }), "player_1"],
    [
      "one agent in both roles",
      () => ({ template: "chess.v1", participants: { white: white.agent_id, black: white.agent_id } }),
      "a different agent",
    ],
    [
      "agents that are not text",
      () => ({ template: "chess.v1", participants: { white: 1, black: {} } }),
      "participants",
    ],
    [
      "unknown options",
      () => ({ template: "chess.v1", participants: participants(), options: { clock: 1 } }),
      "options",
    ],
    ["options that are a list", () => ({ template: "chess.v1", participants: participants(), options: [] }), "options"],
    [
      "an impossible option",
      () => ({ template: "chess.v1", participants: participants(), options: { fen: "x" } }),
      "options",
    ],
    [
      "unknown spectators",
      () => ({ template: "chess.v1", participants: participants(), spectators: "all" }),
      "spectators",
    ],
  ])("with %s is INVALID_REQUEST with the reason", async (_, body, reason) => {
    expect(expectRejection(await create(body()), 400, "INVALID_REQUEST")).toContain(reason);
  });

  it("with unknown agents is NOT_FOUND, before permission and template are checked", async () => {
    const body = { template: "go.v1", participants: { white: "unknown", black: black.agent_id } };
    expectRejection(await create(body), 404, "NOT_FOUND");
    expectRejection(await create({ ...body, participants: { white: "x".repeat(500), black: "♞" } }), 404, "NOT_FOUND");
    expectRejection(
      await create({ ...body, participants: { white: "x".repeat(10_000), black: "y" } }),
      400,
      "INVALID_REQUEST",
    );
  });

  it("of a caller that is not a participant is FORBIDDEN, before the template is checked", async () => {
    expectRejection(
      await create({ template: "go.v1", participants: participants() }, outsider.token),
      403,
      "FORBIDDEN",
    );
  });
});

describe("ids, queries and tokens", () => {
  it.each(["unknown", "..%2F..%2Fetc", "%00", "♞", "x".repeat(10_000), "' OR 1=1 --", "__proto__", "constructor"])(
    "session %s is NOT_FOUND",
    async (id) => {
      const path = `/sessions/${encodeURIComponent(id)}`;
      for (const leaf of ["state", "log", "events"]) {
        expectRejection(await host.call("GET", `${path}/${leaf}`, { token: white.token }), 404, "NOT_FOUND");
      }
      expectRejection(await host.call("POST", `${path}/actions`, { token: white.token, body: {} }), 404, "NOT_FOUND");
    },
  );

  it("a path that cannot be decoded is INVALID_REQUEST", async () => {
    expectRejection(await host.call("GET", "/sessions/%E0%A4%A/state", { token: white.token }), 400, "INVALID_REQUEST");
  });

  it.each([
    "wait_after_tick=-1",
    "wait_after_tick=x",
    "wait_after_tick=1.5",
    "wait_after_tick=",
    "wait_after_tick=0&wait_after_tick=1",
    "wait_after_tick=0&timeout_s=31",
    "wait_after_tick=0&timeout_s=-1",
    "timeout_s=x",
    "wait_after_tick[a]=1&timeout_s=1e1",
  ])("state?%s is INVALID_REQUEST", async (query) => {
    expectRejection(
      await host.call("GET", `/sessions/${chess}/state?${query}`, { token: white.token }),
      400,
      "INVALID_REQUEST",
    );
  });

  it.each(["limit=0", "limit=1001", "limit=x", "agent_id=a&agent_id=b"])(
    "sessions?%s is INVALID_REQUEST",
    async (query) => {
      expectRejection(await host.call("GET", `/sessions?${query}`, { token: white.token }), 400, "INVALID_REQUEST");
    },
  );

  it.each(["Basic x", "Bearer", "Bearer ", "bearer unknown", "Token x", "Bearer a b", `Bearer ${"x".repeat(10_000)}`])(
    "authorization %s is UNAUTHORIZED, with the header www-authenticate",
    async (authorization) => {
      const answer = await host.call("GET", "/sessions", { headers: { authorization } });
      expectRejection(answer, 401, "UNAUTHORIZED");
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    },
  );

  it("the scheme of a token is not case-sensitive", async () => {
    const answer = await host.call("GET", "/sessions", { headers: { authorization: `bearer ${white.token}` } });
    expect(answer.status).toBe(200);
  });

  it.each(["", "k".repeat(201)])("Idempotency-Key of %s characters is INVALID_REQUEST", async (key) => {
    const options = { token: white.token, body: { action: "e2e4", expected_tick: 0 } };
    const answer = await host.call("POST", `/sessions/${chess}/actions`, {
      ...options,
      headers: { "idempotency-key": key },
    });
    expectRejection(answer, 400, "INVALID_REQUEST");
  });

  it.each(["PUT", "PATCH", "DELETE"])("%s is not a route", async (method) => {
    for (const leaf of ["state", "log", "actions"]) {
      expectRejection(
        await host.call(method, `/sessions/${chess}/${leaf}`, { token: white.token, body: {} }),
        404,
        "NOT_FOUND",
      );
    }
  });
});

describe("rate limits", () => {
  it("apply to unknown callers by address and to agents by token, with the standard headers", async () => {
    const limited = await startTestHost({ limitLoopback: true });
    try {
      const agent = await limited.agent();
      const first = await limited.call("GET", "/sessions", { token: agent.token });
      expect(first.headers.get("ratelimit-policy")).toBe('"default";q=6000;w=60');
      expect(first.headers.get("ratelimit")).toMatch(/^"default";r=5999;t=\d+$/);
      const answers = await Promise.all(Array.from({ length: 60 }, () => limited.call("POST", "/agents")));
      const late = answers.filter(({ status }) => status === 429);
      expect(late).toHaveLength(11); // the limit is 50 per minute, and one request was made above
      expectRejection(late[0] as Answer, 429, "TOO_MANY_REQUESTS");
      expect(Number(late[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
      expectRejection(await limited.call("POST", "/sessions"), 429, "TOO_MANY_REQUESTS");
      expect((await limited.call("GET", "/sessions", { token: agent.token })).status).toBe(200);
    } finally {
      await limited.remove();
    }
  });
});
