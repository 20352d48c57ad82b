import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canCreateNetworks, createNetwork, type TestNetwork } from "./testing/network.ts";

/** The source of a server that answers with the address of its caller. */
const ECHO_SERVER = `require("node:http").createServer((request, reply) => reply.end(request.socket.remoteAddress))
  .listen(8000, "::", () => console.log("listening"))`;

describe.skipIf(!canCreateNetworks)("a test network (needs root and iproute2)", () => {
  let network: TestNetwork<"server" | "client">;
  beforeAll(async () => {
    network = await createNetwork("server", "client");
    const server = network.hosts.server.spawn([process.execPath, "--eval", ECHO_SERVER], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(server.stdout as NodeJS.ReadableStream, "data");
  });
  afterAll(() => network.close());

  it("shows each host the address of the other", async () => {
    const { server, client } = network.hosts;
    const reply = await client.request(`http://${server.address}:8000/`);
    expect(reply).toMatchObject({ status: 200, text: `::ffff:${client.address}` });
  });

  it("lets a host send from any address of its IPv6 prefix", async () => {
    const { server, client } = network.hosts;
    const from = `${client.prefix6}::abc`;
    expect((await client.request(`http://[${server.prefix6}::1]:8000/`, { from })).text).toBe(from);
  });
});
