import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { sha256Hex } from "#shared/lib/hash.ts";
import { EXIT, fileReason, StartError } from "#shared/runtime/process/exit.ts";
import { canonical } from "./format.ts";

/** The content of the signature file of a signed export. */
export const Signature = z.strictObject({
  algorithm: z.literal("ed25519"),
  /** The public key as SPKI in PEM format. */
  public_key: z.string().max(1_000),
  /** The signature of `signedText` in Base64. */
  signature: z.string().max(1_000),
});
export type Signature = z.infer<typeof Signature>;

/** The text that is signed. The digest of the manifest covers every other file. */
const signedText = (digest: string): Buffer => Buffer.from(`agent-league.export\n${digest}\n`);

const pemOf = (key: KeyObject): string => key.export({ type: "spki", format: "pem" }).toString();

/**
 * Reads a private key from a PEM file. Returns a function that signs a digest and returns the text of the signature file. Throws StartError if the file
 * does not contain an Ed25519 private key.
 */
export function signer(keyFile: string): (digest: string) => string {
  const key = readKey(keyFile, createPrivateKey, "Ed25519 private key");
  const public_key = pemOf(createPublicKey(key));
  return (digest) => {
    const signature = sign(null, signedText(digest), key).toString("base64");
    return canonical({ algorithm: "ed25519", public_key, signature } satisfies Signature);
  };
}

/** Reads a public key from a PEM file that contains it or its private key. Throws StartError if the file contains neither. */
export const publicKeyIn = (keyFile: string): KeyObject => readKey(keyFile, createPublicKey, "Ed25519 key");

function readKey(keyFile: string, parse: (pem: string) => KeyObject, kind: string): KeyObject {
  const pem = textOf(keyFile);
  const key = ed25519Key(() => parse(pem));
  if (key) return key;
  const hint = "create one with: openssl genpkey -algorithm ed25519 -out KEYFILE";
  throw new StartError(`${keyFile} does not contain an ${kind} in PEM format; ${hint}`, EXIT.usage);
}

/** Reads a file that an option names. Throws StartError if the file cannot be read. */
function textOf(keyFile: string): string {
  try {
    return readFileSync(keyFile, "utf8");
  } catch (thrown) {
    throw new StartError(`cannot use ${keyFile}: ${fileReason(thrown as NodeJS.ErrnoException)}`, EXIT.usage);
  }
}

/** Returns the result of `parse`; null if it throws or the key is not an Ed25519 key. */
function ed25519Key(parse: () => KeyObject): KeyObject | null {
  try {
    const key = parse();
    return key.asymmetricKeyType === "ed25519" ? key : null;
  } catch {
    return null;
  }
}

/** Returns the fingerprint of a public key: `SHA256:` and the SHA-256 of its DER form in hexadecimal digits. */
export const fingerprintOf = (key: KeyObject): string =>
  `SHA256:${sha256Hex(key.export({ type: "spki", format: "der" }))}`;

/**
 * Returns the key that made a valid signature of this digest; null if the signature is not valid. Only the form that `signer` writes is valid, because
 * Node.js accepts other texts for the same key or signature, for example the private key.
 */
export function signingKey({ public_key, signature }: Signature, digest: string): KeyObject | null {
  const key = ed25519Key(() => createPublicKey(public_key));
  const bytes = Buffer.from(signature, "base64");
  if (!key || pemOf(key) !== public_key || bytes.toString("base64") !== signature) return null;
  return verify(null, signedText(digest), key, bytes) ? key : null;
}
