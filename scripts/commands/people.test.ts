import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { readBody } from "#shared/rpc/http/request.ts";
import { rpcResponse, textResult } from "#shared/rpc/testing/json-rpc.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { joinAsPerson } from "./people.ts";

test("league join human rejects an answer whose player id contains control characters", async () => {
  const server = createServer((request, response) =>
    readBody(request, 100_000, (body) => {
      const answer = newEnvelope("JOIN_LEAGUE_RESPONSE", "league_manager:LM01", { player_id: "P01\u001b[2J" });
      response.end(JSON.stringify(rpcResponse(JSON.parse(body ?? "").id, textResult(answer))));
    }),
  );
  const data = mkdtempSync(join(tmpdir(), "people-"));
  onTestFinished(() => {
    server.close().closeAllConnections();
    rmSync(data, { recursive: true });
  });
  const manager = `http://127.0.0.1:${await listenOnLoopback(server)}/mcp`;
  await expect(joinAsPerson({ manager, name: "Ann", data })).rejects.toThrow(
    `the manager at ${manager} answered JOIN_LEAGUE_RESPONSE, not a registration: payload.player_id: must not contain`,
  );
});
