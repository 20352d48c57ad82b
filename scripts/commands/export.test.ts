import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { canonical, MANIFEST, matchFile } from "../archive/format.ts";
import { cleanUp, type Ended, league, newFolder, root, STACK_LINE, start } from "../testing/processes.ts";
import { RPS, run, testLeague } from "../testing/test-league.ts";

afterEach(cleanUp);

const digestIn = ({ stdout }: Ended): string | undefined => /digest ([0-9a-f]{64})$/m.exec(stdout)?.[1];

it("verify accepts an exported run, and rejects it with the name of the file after a byte is changed", async () => {
  const test = await testLeague(["random", "cycle", "greedy"], RPS);
  const ended = await run(test, "--quiet").ended;
  expect(ended.code, ended.stderr).toBe(0);
  const out = join(test.folder, "exported");

  const exported = await league(["export", join(test.folder, "data"), "--out", out]);
  expect(exported.code, exported.stderr).toBe(0);
  const { digest } = JSON.parse(readFileSync(join(out, MANIFEST), "utf8"));
  expect(digestIn(exported)).toBe(digest);

  const [plain, json] = await Promise.all([league(["verify", out]), league(["verify", out, "--json"])]);
  expect(plain.code, plain.stderr).toBe(0);
  expect(plain.stdout).toContain(`\nnot signed: anyone who can write the files can replace all of them. `);
  expect(plain.stdout).toContain(`\nverified\n3 matches replayed, digest ${digest}\n`);
  expect(json.code, json.stderr).toBe(0);
  expect(JSON.parse(json.stdout)).toMatchObject({
    ok: true,
    verdict: "verified",
    matches: 3,
    digest,
    faults: [],
    exceptions: [],
    without_log: [],
    signature: null,
  });

  const key = join(test.folder, "key.pem");
  writeFileSync(key, generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }));
  const signed = await league(["export", join(test.folder, "data"), "--out", out, "--sign", key]);
  expect([signed.code, digestIn(signed)], signed.stderr).toEqual([0, digest]);
  const [checked, unchecked] = await Promise.all([league(["verify", out, "--key", key]), league(["verify", out])]);
  expect(checked.stdout).toMatch(/^signed with the key SHA256:[0-9a-f]{64}, as expected\nverified\n/m);
  expect(unchecked.stdout).toMatch(
    /^signed with the key SHA256:[0-9a-f]{64}, which was not compared with a key that you trust: add --key KEYFILE\nverified\n/m,
  );

  const file = matchFile("rps", "R2M1");
  const bytes = readFileSync(join(out, file));
  const offset = bytes.indexOf('"seed": "') + '"seed": "'.length;
  bytes[offset] = bytes[offset] === 0x41 ? 0x42 : 0x41;
  writeFileSync(join(out, file), bytes);
  const message = "was changed after the export: its SHA-256 differs from that in manifest.json";
  const [badPlain, badJson] = await Promise.all([league(["verify", out]), league(["verify", out, "--json"])]);
  expect(badPlain.code).toBe(1);
  expect(badPlain.stderr).toContain(`${file}: ${message}`);
  expect(badPlain.stderr).toMatch(/^not sound: \d+ faults?$/m);
  expect(badPlain.stderr).not.toMatch(STACK_LINE);
  expect(badPlain.stdout).not.toContain("verified");
  expect(badJson.code).toBe(1);
  const printed = JSON.parse(badJson.stdout);
  expect(printed.ok).toBe(false);
  expect(printed.faults).toContainEqual({ file, message });
  expect(new Set(printed.faults.map((fault: { file: string }) => fault.file))).toEqual(new Set([file]));
});

it("export writes reports of a run, and rejects formats that cannot be written", async () => {
  const test = await testLeague(
    ["random", "greedy"],
    [{ league_id: "chess", game: "chess.v1", options: { max_plies: 8 } }],
  );
  expect((await run(test, "--quiet").ended).code).toBe(0);
  const [data, out, exported] = ["data", "reports", "exported"].map((name) => join(test.folder, name)) as [
    string,
    string,
    string,
  ];
  const written = await league(["export", data, "--format", "pgn,csv,jsonl", "--out", out]);
  const names = ["standings.csv", "crosstable.csv", "ratings.csv", "matches.csv", "games.pgn", "actions.jsonl"];
  expect([written.code, written.stderr]).toEqual([0, ""]);
  expect(written.stdout).toBe(names.map((name) => `${join(out, name)}\n`).join(""));
  expect(readFileSync(join(out, "games.pgn"), "utf8")).toContain("{move limit} 1/2-1/2\n");
  await league(["export", data, "--out", exported]);
  const [mixed, signed, inExport] = await Promise.all([
    league(["export", data, "--format", "csv,json", "--out", out]),
    league(["export", data, "--format", "csv", "--sign", "key.pem", "--out", out]),
    league(["export", data, "--format", "csv", "--out", exported]),
  ]);
  expect([mixed.code, mixed.stderr]).toEqual([
    2,
    expect.stringContaining("give json, or one or more of csv, pgn, jsonl"),
  ]);
  expect([signed.code, signed.stderr]).toEqual([2, "only the format json can be signed: omit --sign\n"]);
  expect([inExport.code, inExport.stderr]).toEqual([2, expect.stringContaining("name another folder with --out")]);
});

it("export and verify say that a served league has not started", async () => {
  const test = await testLeague([], RPS);
  const served = start("scripts/league.ts", ["serve", test.file, "--players", "2"]);
  await served.line(/takes registrations at /);
  served.signal("SIGINT");
  await served.ended;
  const out = join(test.folder, "exported");
  const exported = await league(["export", join(test.folder, "data"), "--out", out]);
  expect(exported.stdout).toContain("\nrps has not started\n");
  expect((await league(["verify", out])).stdout).toContain("\nrps has not started\n");
});

it("export names a key file without a key, and writes nothing", async () => {
  const test = await testLeague([], RPS);
  const key = join(test.folder, "key.pem");
  writeFileSync(key, "no key");
  const out = join(test.folder, "out");
  const { code, stderr } = await league(["export", test.folder, "--out", out, "--sign", key]);
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining(`${key} does not contain an Ed25519 private key in PEM format`),
  ]);
  expect(existsSync(out)).toBe(false);
});

it("verify names a folder that is missing or is not an export", async () => {
  const test = await testLeague([], RPS);
  const missingFolder = join(test.folder, "nope");
  const [missing, other] = await Promise.all([league(["verify", missingFolder]), league(["verify", test.folder])]);
  expect([missing.code, missing.stderr.trim()]).toEqual([2, `${missingFolder}: no such folder`]);
  expect(other.code).toBe(2);
  expect(other.stderr).toContain(`${test.folder} is not an export: it has no manifest.json.`);
});

it("verify prints the first faults and the verdict; its JSON document has all faults, with control characters escaped", async () => {
  const folder = newFolder();
  const names = Array.from({ length: 3_000 }, (_, index) => `file \u009b31m\u202e${index}`);
  const files = Object.fromEntries(names.map((name) => [name, ""]));
  writeFileSync(join(folder, MANIFEST), canonical({ files, digest: "" }));
  const [plain, json] = await Promise.all([league(["verify", folder]), league(["verify", folder, "--json"])]);
  const lines = plain.stderr.trimEnd().split("\n");
  expect(plain.code).toBe(1);
  expect(lines).toHaveLength(12);
  expect(lines[0]).toBe("file  31m 0: is missing");
  expect(lines.slice(-2)).toEqual(["and 2992 more", "not sound: 3002 faults"]);
  expect(json.stdout).not.toMatch(/[\u009b\u202e]/);
  const { faults } = JSON.parse(json.stdout);
  expect(faults).toHaveLength(3_002);
  expect(faults[0]).toEqual({ file: names[0], message: "is missing" });
});

it("an error that is longer than the buffer of a pipe is written completely", async () => {
  const missing = "x".repeat(120_000);
  const command = '"$0" "$1" verify "$2" 2>&1 | cat';
  const written = await new Promise<string>((resolve, reject) => {
    execFile("sh", ["-c", command, process.execPath, join(root, "scripts/league.ts"), missing], (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
  });
  expect(written.length).toBe(missing.length + ": no such folder\n".length);
});
