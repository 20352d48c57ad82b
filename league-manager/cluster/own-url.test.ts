import { createServer } from "node:http";
import { afterEach, expect, test } from "vitest";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import type { Member } from "../shared-run/run-database.ts";
import { checkOwnUrl } from "./own-url.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Returns the warning about the address of a manager, and the paths that were requested there. */
async function checked({ isOpen, others = [] }: { isOpen: boolean; others?: readonly string[] }) {
  const paths: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    paths.push(url);
    response.end("{}");
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  if (isOpen) cleanups.push(close);
  else await close();
  const peers = silentProcess("manager").network.createPeers();
  cleanups.push(() => peers.close());
  const self: Member = { managerId: "a", url };
  const warnings: string[] = [];
  const ended = Promise.withResolvers<void>();
  checkOwnUrl({
    self,
    members: () => [self, ...others.map((name) => ({ managerId: name, url }))],
    peers: { isListening: (...args) => peers.isListening(...args).finally(() => setImmediate(ended.resolve)) },
    clock: {
      after(_, run) {
        run();
        return () => {};
      },
    },
    warn: (line) => void warnings.push(line.replace(url, "URL")),
  });
  if (others.length === 0) await ended.promise;
  return { warnings, paths };
}

test("a manager that answers at its address gets no warning", async () => {
  expect(await checked({ isOpen: true })).toEqual({ warnings: [], paths: ["/health"] });
});

test("an address at which no program answers is reported", async () => {
  expect((await checked({ isOpen: false })).warnings).toEqual([
    "no program answers at URL, where the other managers call this one: correct --url, or open the port",
  ]);
});

test("an address that another manager has too is reported", async () => {
  expect((await checked({ isOpen: true, others: ["b"] })).warnings).toEqual([
    "another manager has the address URL too: start each manager with a different --url",
  ]);
});
