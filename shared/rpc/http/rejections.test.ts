import { afterEach, expect, test } from "vitest";
import { BODY_LIMIT, close, open, send } from "../testing/requests.ts";

afterEach(close);

test("a page that is rejected because of the rate limit is reloaded by the browser after the limit, and other requests are not", async () => {
  await open({ gate: async () => ({ rejection: { status: 429, body: "{}" }, headers: { "retry-after": "9" } }) });
  expect((await send("", { method: "GET", path: "/" })).headers.refresh).toBe("9");
  expect((await send("{}", { path: "/api/games" })).headers.refresh).toBeUndefined();
});

test("a rejected request is logged with its address, code and path, and an internal error is reported to onError", async () => {
  const rejections: unknown[] = [];
  const errors: unknown[] = [];
  await open({
    gate: async (_, { bearer }) =>
      bearer === "limited" ? { rejection: { status: 429, body: "{}" }, headers: { "retry-after": "9" } } : null,
    sessions: () => Promise.reject(new Error("sessions could not be loaded")),
    rejections: { write: (from, { code, request }) => rejections.push([from, code, request]) },
    onError: (error) => errors.push(error),
  });
  await send("{}", { headers: { host: "evil.example" } });
  await send("{}", { headers: { "content-type": "text/plain" } });
  await send("", { method: "PUT" });
  await send(" ".repeat(BODY_LIMIT + 1));
  await send("{}", { headers: { authorization: "Bearer limited" } });
  const page = await send("", { method: "GET", path: "/x?token=1", headers: { authorization: "Bearer limited" } });
  expect([page.status, JSON.parse(page.text).error.code]).toEqual([429, "TOO_MANY_REQUESTS"]);
  expect(page.headers["retry-after"]).toBe("9");
  expect(rejections).toEqual([
    ["127.0.0.1", 403, "POST /mcp"],
    ["127.0.0.1", 415, "POST /mcp"],
    ["127.0.0.1", 405, "PUT /mcp"],
    ["127.0.0.1", 413, "POST /mcp"],
    ["127.0.0.1", 429, "POST /mcp"],
    ["127.0.0.1", 429, "GET /x"],
  ]);
  const mcpClient = { accept: "application/json, text/event-stream" };
  expect((await send("{}", { headers: mcpClient })).status).toBe(500);
  expect(errors).toEqual([new Error("sessions could not be loaded")]);
});
