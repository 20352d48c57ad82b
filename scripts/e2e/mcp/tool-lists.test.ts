import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rpcRequest } from "#shared/rpc/testing/json-rpc.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { startTestHost, type TestHost } from "../../../referee/rest/testing/host.ts";
import { callRpc, startTestLeague, type TestLeague } from "../../testing/in-process-league.ts";
import { cleanUp, newFolder, start } from "../../testing/processes.ts";

/** The part of a JSON Schema that the tests read. */
interface Schema {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
}
interface Listed {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Schema;
}
interface Server {
  readonly tools: readonly Listed[];
  readonly instructions: string;
}

const INITIALIZE = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
const servers: Record<string, Server> = {};
let league: TestLeague;
let host: TestHost;

const serverAt = async (url: string): Promise<Server> => ({
  ...((await callRpc(url, "tools/list", {})) as Pick<Server, "tools">),
  ...((await callRpc(url, "initialize", INITIALIZE)) as Pick<Server, "instructions">),
});

/** Starts `league mcp` and sends the requests to its stdin. */
async function commandServer(): Promise<Server> {
  const args = ["mcp", "--port", String(await freePort()), "--data", newFolder()];
  const command = start("scripts/league.ts", args, {}, "pipe");
  const lines = createInterface({ input: command.stdout })[Symbol.asyncIterator]();
  const ask = async (method: string, params: object): Promise<object> => {
    command.stdin?.write(`${JSON.stringify(rpcRequest(method, params))}\n`);
    return JSON.parse((await lines.next()).value ?? "").result;
  };
  const server = { ...(await ask("initialize", INITIALIZE)), ...(await ask("tools/list", {})) } as unknown as Server;
  command.stdin?.end();
  await command.ended;
  return server;
}

beforeAll(async () => {
  league = await startTestLeague({
    leagues: [{ league_id: "eo", game: "even_odd.v1" }],
    players: [
      { name: "Hand", bot: "manual" },
      { name: "One", bot: "random" },
    ],
  });
  host = await startTestHost();
  servers.manager = await serverAt(league.manager);
  servers.referee = await serverAt(league.refereeUrls[0] ?? "");
  servers.player = await serverAt(league.playerUrls[0] ?? "");
  servers["npm run host"] = await serverAt(`${host.url}/mcp`);
  servers["league mcp"] = await commandServer();
});
afterAll(async () => {
  await league?.stop();
  await host?.remove();
  await cleanUp();
});

const tool = (server: string, name: string): Listed | undefined =>
  servers[server]?.tools.find((one) => one.name === name);

/** Returns the paths of the properties, entries and alternatives in a schema that have no type. */
function untypedIn(schema: Schema, path: string): readonly string[] {
  const { type, anyOf, properties = {}, items } = schema;
  const fields = Object.entries(properties).flatMap(([name, field]) => untypedIn(field, `${path}.${name}`));
  const parts = [
    ...(anyOf ?? []).flatMap((form, index) => untypedIn(form, `${path}|${index}`)),
    ...(items ? untypedIn(items, `${path}[]`) : []),
  ];
  return [...(typeof type === "string" || anyOf ? [] : [path]), ...fields, ...parts];
}

describe.each(["manager", "referee", "player", "npm run host", "league mcp"])("the tools of %s", (server) => {
  it("have input schemas that Anthropic's API accepts: an object without anyOf, oneOf, allOf or $ref at the root", () => {
    const { tools = [] } = servers[server] ?? {};
    expect(tools.length).toBeGreaterThan(2);
    for (const { name, inputSchema } of tools) {
      expect(inputSchema.type, name).toBe("object");
      expect(Object.keys(inputSchema), name).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^(anyOf|oneOf|allOf|\$ref)$/)]),
      );
    }
  });

  it("have a type for each property of their input schemas, because some hosts reject a property without one", () => {
    const untyped = (servers[server]?.tools ?? []).flatMap(({ name, inputSchema }) => untypedIn(inputSchema, name));
    expect(untyped).toEqual([]);
  });

  it("are described by instructions in the answer to initialize", () => {
    expect(servers[server]?.instructions).toMatch(/^This server /);
  });
});

describe.each(["npm run host", "league mcp"])("%s", (server) => {
  it("lists the tools for games and Codenames, validate_move and get_game_state, and no tools of the league", () => {
    expect(servers[server]?.tools.map(({ name }) => name).sort()).toEqual([
      "continue_game",
      "createGame",
      "create_new_game",
      "end_game",
      "finishTurn",
      "get_game_state",
      "joinGame",
      "validate_move",
      "waitForNextTurn",
    ]);
  });

  it("lists its tools with names, descriptions and input schemas of less than 12 kB in total", () => {
    const { tools = [] } = servers[server] ?? {};
    const texts = tools.map(({ name, description, inputSchema }) => name + description + JSON.stringify(inputSchema));
    expect(Buffer.byteLength(texts.join(""))).toBeLessThan(12_000);
  });
});

it("start_game requires the three documented arguments and describes the others as optional", () => {
  const schema = tool("referee", "start_game")?.inputSchema;
  expect(schema?.required).toEqual(["player1_id", "player2_id", "match_id"]);
  expect(schema?.properties).toHaveProperty("player1_endpoint");
});

it("make_move offers the documented number from 1 to 5 and a move of any game", () => {
  const properties = tool("player", "make_move")?.inputSchema.properties;
  expect(properties).toMatchObject({ number: { type: "integer", minimum: 1, maximum: 5 }, move: {} });
});
