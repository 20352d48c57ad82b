import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, expect, it } from "vitest";
import { copiedToDatabase } from "../archive/testing/database.ts";
import { plainRun } from "../archive/testing/store.ts";
import { cleanUp, league, newFolder, start } from "../testing/processes.ts";

let url: string;
let address: string;
beforeAll(async () => {
  url = await copiedToDatabase(await plainRun(newFolder()));
  const { host, pathname } = new URL(url);
  address = `the database ${pathname.slice(1)} at ${host}`;
});
afterEach(cleanUp);

it("export writes the league of a database, which verify accepts as a folder and as a database", async () => {
  const out = join(newFolder(), "exported");
  const exported = await league(["export", "--database", url, "--out", out]);
  expect([exported.code, exported.stderr]).toEqual([0, ""]);
  expect(exported.stdout).toContain(`6 matches of ${address} written to ${out}\n`);
  const [folder, database] = await Promise.all([league(["verify", out]), league(["verify", "--database", url])]);
  expect(folder.stdout).toContain("\nverified\n6 matches replayed, digest ");
  const [, result = ""] = folder.stdout.split(/^not signed: .*\n/m);
  expect(result).not.toBe("");
  const line = "checked in the database: to prove the results to others, export them and sign the export";
  expect(database.stdout).toContain(`\n${line}\n${result}`);
  expect(database.stdout).not.toContain("not signed");
});

it("export writes reports of a database, also of the one that DATABASE_URL names", async () => {
  const out = join(newFolder(), "reports");
  const ended = await start("scripts/league.ts", ["export", "--format", "csv,html", "--out", out], {
    DATABASE_URL: url,
  }).ended;
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  const names = ["standings.csv", "crosstable.csv", "ratings.csv", "matches.csv", "report.html"];
  expect(readdirSync(out).sort()).toEqual(names.sort());
});

it("ratings rate the matches of a database, alone or with those of folders", async () => {
  const data = newFolder();
  await plainRun(data);
  const ratings = (args: readonly string[], environment = {}) =>
    start("scripts/league.ts", ["ratings", ...args], environment).ended;
  const [alone, together, folder] = await Promise.all([
    ratings([], { DATABASE_URL: url }),
    ratings([data, "--database", url]),
    ratings([data], { DATABASE_URL: url }),
  ]);
  expect([alone.code, together.code, folder.code]).toEqual([0, 0, 0]);
  expect(alone.stdout).toContain("rps.v1: 6 matches in 1 run,");
  expect(together.stdout).toContain("rps.v1: 12 matches in 2 runs,");
  expect(folder.stdout).toContain("rps.v1: 6 matches in 1 run,");
});

it("a named folder takes precedence over DATABASE_URL, and is rejected beside --database", async () => {
  const data = newFolder();
  await plainRun(data);
  const out = join(newFolder(), "exported");
  const environment = { DATABASE_URL: "postgres://127.0.0.1:1/none" };
  const ended = await start("scripts/league.ts", ["export", data, "--out", out], environment).ended;
  expect(ended.stdout).toContain(`6 matches of ${data} written to ${out}\n`);
  const [both, neither, signed] = await Promise.all([
    league(["export", data, "--database", url]),
    league(["verify"]),
    league(["verify", "--database", url, "--key", "league.pub"]),
  ]);
  expect([both.code, both.stderr]).toEqual([2, "name either a folder or --database\n"]);
  expect([neither.code, neither.stderr]).toEqual([2, "name the folder of an export, or --database\n"]);
  expect([signed.code, signed.stderr]).toEqual([2, "only an export has a signature: omit --key\n"]);
});

it("a database that does not answer is a fault of one line without the password, and nothing is written", async () => {
  const gone = new URL(url);
  gone.port = "1";
  const out = join(newFolder(), "exported");
  const ended = await league(["export", "--database", gone.href, "--out", out]);
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toBe("no PostgreSQL server listens at 127.0.0.1:1: start it, or correct the address\n");
  expect(existsSync(out)).toBe(false);
});

it("personal-data and forget use a database, and forget rejects a manager beside it", async () => {
  const listed = await league(["personal-data", "Ann", "--database", url]);
  expect([listed.code, listed.stderr]).toEqual([0, ""]);
  expect(listed.stdout).toContain(`Ann in ${address}\n  id       P01\n`);
  const both = await league(["forget", "Ann", "--database", url, "--manager", "http://127.0.0.1:1/mcp"]);
  expect([both.code, both.stderr]).toEqual([2, "name either --manager or --database\n"]);
  const environment = { DATABASE_URL: url };
  const inFolder = await start("scripts/league.ts", ["personal-data", "Ann", "--data", newFolder()], environment).ended;
  expect(inFolder.stderr).toMatch(/^no league in /);
  const forgotten = await start("scripts/league.ts", ["forget", "Ann"], environment).ended;
  expect([forgotten.code, forgotten.stderr]).toEqual([0, ""]);
  expect(forgotten.stdout).toContain(`P01 is erased in ${address}: its name, address and token`);
});
