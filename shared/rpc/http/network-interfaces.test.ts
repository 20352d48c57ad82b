import { syncBuiltinESMExports } from "node:module";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { interfaceReader } from "./machine-addresses.ts";

test("the interfaces are listed once per turn of the event loop, however often they are read", async () => {
  const os = process.getBuiltinModule("node:os");
  const real = os.networkInterfaces;
  let listCount = 0;
  let address = "203.0.113.50";
  os.networkInterfaces = () => {
    listCount++;
    const entry = { address, netmask: "255.255.255.0", mac: "02:00:00:00:00:01", internal: false, cidr: null };
    return { test0: [{ ...entry, family: "IPv4" }] };
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    os.networkInterfaces = real;
    syncBuiltinESMExports();
  });
  const interfaces = interfaceReader(systemClock);
  const read = async () => interfaces().test0?.[0]?.address;
  const readOften = () => Promise.all(Array.from({ length: 1_000 }, read));
  expect(new Set(await readOften())).toEqual(new Set(["203.0.113.50"]));
  expect(listCount).toBe(1);
  await systemClock.nextTurn();
  address = "203.0.113.60";
  expect(new Set(await readOften())).toEqual(new Set(["203.0.113.60"]));
  expect(listCount).toBe(2);
});
