import { afterEach, beforeEach, expect, it } from "vitest";
import { err, ok } from "#shared/lib/result.ts";
import { type ManualClock, manualClock } from "#shared/lib/testing/clock.ts";
import type { Member } from "../shared-run/run-database.ts";
import { checkAddresses } from "./member-notices.ts";

const A: Member = { managerId: "a", url: "http://10.0.0.1:8000" };
const B: Member = { managerId: "b", url: "http://10.0.0.2:8000" };

let clock: ManualClock;
let members: readonly Member[];
/** The answers to `GET /health` by origin. No program listens at other origins. */
let answers: Record<string, object>;
let warnings: string[];
let stop: () => void;

beforeEach(() => {
  clock = manualClock();
  members = [A, B];
  answers = { [A.url]: { server_id: "a" }, [B.url]: { server_id: "b" } };
  warnings = [];
  stop = checkAt(A);
});
afterEach(() => stop());

const checkAt = (self: Member) =>
  checkAddresses({
    self,
    members: () => members,
    clock,
    warn: (line) => void warnings.push(line),
    peers: {
      async get(url) {
        const answer = answers[new URL(url).origin];
        if (!answer) return err({ cause: "refused", detail: "connection refused" });
        return ok({ status: 200, text: JSON.stringify(answer) });
      },
    },
  });

const checks = (count: number): Promise<void> => clock.advance(10_000 * count);

it("managers that answer at their addresses get no warning", async () => {
  await checks(5);
  expect(warnings).toEqual([]);
});

it("a manager warns once if another program answers at its own address, and when it answers there again", async () => {
  answers[A.url] = { status: "ok" };
  await checks(5);
  expect(warnings).toEqual([
    "another program answers at http://10.0.0.1:8000, where the other managers call this one: correct the LEAGUE_ADDRESS or --url of that manager",
  ]);
  answers[A.url] = { server_id: "a" };
  await checks(5);
  expect(warnings.slice(1)).toEqual([
    "the right manager answers at http://10.0.0.1:8000 again, where the other managers call this one",
  ]);
});

it("a manager warns about the address of another one, e.g. if it is its own", async () => {
  members = [A, { ...B, url: A.url }];
  await checks(3);
  expect(warnings).toEqual([
    "another manager answers at http://10.0.0.1:8000, where this manager calls another one: correct the LEAGUE_ADDRESS or --url of that manager",
  ]);
});

it("a manager warns about an address at which no program answers", async () => {
  delete answers[B.url];
  await checks(3);
  expect(warnings).toEqual([
    "no program answers at http://10.0.0.2:8000, where this manager calls another one: correct the LEAGUE_ADDRESS or --url of that manager, or open its port",
  ]);
});

it("a manager that ends between two checks gets no warning", async () => {
  delete answers[B.url];
  await checks(1);
  members = [A];
  await checks(3);
  expect(warnings).toEqual([]);
});

it("a manager with a loopback address warns once if another one has an address for other machines", async () => {
  stop();
  const local: Member = { managerId: "l", url: "http://127.0.0.1:8000" };
  answers[local.url] = { server_id: "l" };
  members = [local];
  stop = checkAt(local);
  await checks(2);
  expect(warnings).toEqual([]);
  members = [B, local];
  await checks(3);
  expect(warnings).toEqual([
    "the address of this manager is http://127.0.0.1:8000, at which a manager on another machine, such as http://10.0.0.2:8000, cannot reach it: start it with --host 0.0.0.0 --url http://ADDRESS:8000, where ADDRESS is the address of this machine",
  ]);
});
