import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestHost, type TestHost } from "./testing/host.ts";

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.remove());

it("/openapi.json is valid OpenAPI 3.1", async () => {
  const { json } = await host.call("GET", "/openapi.json");
  const validator = new Validator();
  const result = await validator.validate(json);
  expect(result.errors ?? null).toBe(null);
  expect([result.valid, validator.version]).toEqual([true, "3.1"]);
});

it("describes exactly the existing routes", async () => {
  const { json } = await host.call("GET", "/openapi.json");
  const token = (await host.agent()).token;
  for (const [path, methods] of Object.entries<object>(json.paths)) {
    for (const method of ["get", "post", "put", "delete"]) {
      const answer = await host.call(method.toUpperCase(), path.replace("{session_id}", "unknown"), { token });
      const isRoute = answer.json?.error?.message !== "No such route; /openapi.json lists them";
      expect(`${method} ${path} ${isRoute}`).toBe(`${method} ${path} ${method in methods}`);
    }
  }
});

it("/metrics is in the Prometheus format and counts requests and actions", async () => {
  const agents = [await host.agent(), await host.agent()] as const;
  const rps = await host.session("rps.v1", { player_1: agents[0], player_2: agents[1] });
  await host.call("POST", `/sessions/${rps}/actions`, { token: agents[0].token, body: { action: "rock" } });
  const { text, headers } = await host.call("GET", "/metrics");
  expect(headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of lines) expect(line).toMatch(/^[a-zA-Z_:][\w:]*(\{[^}]*\})? [-+\d.eEInfNa]+$/);
  expect(lines).toContain('host_actions_total{template="rps.v1"} 1');
  expect(lines).toContain("host_sessions_in_memory 1");
  expect(text).toContain('route="POST /sessions/:id/actions",status="200"');
});

it("/ready is ready for a host without a manager", async () => {
  expect((await host.call("GET", "/ready")).json).toEqual({ status: "ready" });
});
