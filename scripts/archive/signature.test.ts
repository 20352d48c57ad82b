import { generateKeyPairSync } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { MANIFEST, matchFile, SIGNATURE, writeExport } from "./format.ts";
import { fingerprintOf, publicKeyIn, signer } from "./signature.ts";
import { filesIn, type TestExports, testExports } from "./testing/exports.ts";
import { forgeFile, type Json } from "./testing/forgery.ts";
import { plainRun } from "./testing/store.ts";
import { verifyExport } from "./verify/verify.ts";

let exports: TestExports;
let files: ReadonlyMap<string, string>;
/** The files of two private keys, and of the public key of the first. */
let keyFile: string;
let publicKeyFile: string;
let otherKeyFile: string;

const newKeyFile = (): string => {
  const file = join(exports.newFolder(), "key.pem");
  const { privateKey } = generateKeyPairSync("ed25519");
  writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }));
  return file;
};

beforeAll(async () => {
  exports = testExports();
  const folder = await exports.exported(plainRun);
  const names = filesIn(folder).filter((name) => name !== MANIFEST);
  files = new Map(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
  [keyFile, otherKeyFile] = [newKeyFile(), newKeyFile()];
  publicKeyFile = join(exports.newFolder(), "key.pub");
  writeFileSync(publicKeyFile, publicKeyIn(keyFile).export({ type: "spki", format: "pem" }));
});
afterAll(() => exports.remove());

function signedExport(): string {
  const folder = join(exports.newFolder(), "export");
  writeExport(folder, files, signer(keyFile));
  return folder;
}

describe("a signed export", () => {
  it("is verified with the public or the private key; without a key, the fingerprint is reported as unchecked", () => {
    const folder = signedExport();
    const fingerprint = fingerprintOf(publicKeyIn(publicKeyFile));
    expect(fingerprint).toMatch(/^SHA256:[0-9a-f]{64}$/);
    for (const file of [publicKeyFile, keyFile]) {
      const checked = { verdict: "verified", signature: { fingerprint, isChecked: true } };
      expect(verifyExport(folder, publicKeyIn(file))).toMatchObject(checked);
    }
    expect(verifyExport(folder)).toMatchObject({ verdict: "verified", signature: { fingerprint, isChecked: false } });
  });

  it("is not sound if another key than the expected one signed it", () => {
    const { verdict, faults, signature } = verifyExport(signedExport(), publicKeyIn(otherKeyFile));
    const message = `was made with a key that is not the expected one: ${fingerprintOf(publicKeyIn(keyFile))}`;
    expect({ verdict, faults }).toEqual({ verdict: "not sound", faults: [{ file: SIGNATURE, message }] });
    expect(signature).toEqual({ fingerprint: fingerprintOf(publicKeyIn(keyFile)), isChecked: false });
  });

  it("is not sound if a file is changed, even if the manifest is adjusted", () => {
    const folder = signedExport();
    forgeFile(folder, matchFile("rps", "R1M1"), (match) => (match.reason = "luck"));
    const { faults, signature } = verifyExport(folder);
    expect(faults).toContainEqual({
      file: SIGNATURE,
      message: "is not a signature of the digest in manifest.json: the export was changed after it was signed",
    });
    expect(signature).toBe(null);
  });

  it("is not sound if its key is not an Ed25519 key", () => {
    const folder = signedExport();
    const { publicKey: rsa } = generateKeyPairSync("rsa", { modulusLength: 1024 });
    for (const public_key of ["no key", rsa.export({ type: "spki", format: "pem" }).toString()]) {
      forgeFile(folder, SIGNATURE, (signature) => (signature.public_key = public_key));
      expect(verifyExport(folder).faults).toContainEqual({
        file: SIGNATURE,
        message: "is not a signature of the digest in manifest.json: the export was changed after it was signed",
      });
    }
  });

  it.each<[string, (signature: Json) => void]>([
    [
      "the private key in place of the public key",
      (signature) => (signature.public_key = readFileSync(keyFile, "utf8")),
    ],
    ["a comment before its public key", (signature) => (signature.public_key = `a comment\n${signature.public_key}`)],
    ["a space before its signature", (signature) => (signature.signature = ` ${signature.signature}`)],
  ])("is not sound with %s", (_, change) => {
    const folder = signedExport();
    forgeFile(folder, SIGNATURE, change);
    const message = "is not a signature of the digest in manifest.json: the export was changed after it was signed";
    expect(verifyExport(folder)).toMatchObject({ signature: null, faults: [{ file: SIGNATURE, message }] });
  });

  it("loses its signature file when an unsigned export replaces it", () => {
    const folder = signedExport();
    writeExport(folder, files);
    expect(filesIn(folder)).not.toContain(SIGNATURE);
    expect(verifyExport(folder)).toMatchObject({ verdict: "verified", signature: null });
  });
});

it("an export without a signature is not sound when a key is expected", () => {
  const folder = signedExport();
  rmSync(join(folder, SIGNATURE));
  const message = "is missing: the export is not signed";
  expect(verifyExport(folder, publicKeyIn(keyFile)).faults).toEqual([{ file: SIGNATURE, message }]);
});

describe("a key file", () => {
  it.each(["", "no key", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"])(
    "that is not an Ed25519 key is rejected: %j",
    (text) => {
      const file = join(exports.newFolder(), "bad.pem");
      writeFileSync(file, text);
      expect(() => signer(file)).toThrow(StartError);
      expect(() => signer(file)).toThrow(
        `${file} does not contain an Ed25519 private key in PEM format; create one with: openssl`,
      );
      expect(() => publicKeyIn(file)).toThrow(`${file} does not contain an Ed25519 key in PEM format`);
    },
  );

  it("that cannot be read is a usage error that names the file", () => {
    const missing = join(exports.newFolder(), "nosuch");
    const folder = exports.newFolder();
    for (const read of [signer, publicKeyIn]) {
      const message = `cannot use ${missing}: there is no such file or folder`;
      expect(() => read(missing)).toThrow(expect.objectContaining({ message, exitCode: EXIT.usage }));
      expect(() => read(folder)).toThrow(expect.objectContaining({ exitCode: EXIT.usage }));
    }
  });

  it("with an RSA key is rejected", () => {
    const file = join(exports.newFolder(), "rsa.pem");
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
    writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }));
    expect(() => signer(file)).toThrow("does not contain an Ed25519 private key");
  });

  it("with a public key is rejected for signing", () => {
    expect(() => signer(publicKeyFile)).toThrow("does not contain an Ed25519 private key");
  });
});

it("writeExport writes nothing if the export cannot be signed", () => {
  const folder = join(exports.newFolder(), "export");
  const failingSigner = (): string => {
    throw new Error("no key");
  };
  expect(() => writeExport(folder, files, failingSigner)).toThrow("no key");
  expect(filesIn(folder)).toEqual([]);
});
