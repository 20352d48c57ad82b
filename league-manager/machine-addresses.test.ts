import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { httpNetwork } from "#shared/rpc/network.ts";
import { startTestManager } from "./testing/test-manager.ts";

const OWN_ADDRESS = "203.0.113.50";

test("a manager reads the addresses of its machine from its network at each registration", async () => {
  let address = OWN_ADDRESS;
  const ownInterface = {
    netmask: "255.255.255.0",
    mac: "02:00:00:00:00:01",
    internal: false,
    cidr: null,
    family: "IPv4",
  } as const;
  const network = { ...httpNetwork(systemClock), interfaces: () => ({ eth0: [{ ...ownInterface, address }] }) };
  const leagues = [{ league_id: "rps", game: "rps.v1" }];
  const manager = await startTestManager(leagues, { allowed_hosts: [OWN_ADDRESS] }, () => {}, { network });
  onTestFinished(() => manager.stop());
  await manager.register("REF01");
  const byAddress = manager.endpointOf("REF01").replace("127.0.0.1", OWN_ADDRESS);
  const register = () => manager.tool("register_referee", { referee_name: "another", endpoint: byAddress });
  expect(await register()).toMatchObject({ status: "REJECTED", error_code: "L003" });
  address = "203.0.113.60";
  expect(await register()).toMatchObject({ status: "ACCEPTED", referee_id: "REF02" });
});
