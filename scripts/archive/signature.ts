import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { sha256Hex } from "#shared/lib/hash.ts";
import { EXIT, fileReason, StartError } from "#shared/runtime/process/exit.ts";
import { canonical } from "./files.ts";

/** The file that stands beside the manifest of a signed export. */
export const Signature = z.strictObject({
  algorithm: z.literal("ed25519"),
  /** SPKI, PEM. */
  public_key: z.string().max(1_000),
  /** Base64, of the text of `signedText`. */
  signature: z.string().max(1_000),
});
export type Signature = z.infer<typeof Signature>;

/** The text that is signed. The digest of the manifest covers every other file. */
const signedText = (digest: string): Buffer => Buffer.from(`agent-league.export\n${digest}\n`);

const pemOf = (key: KeyObject): string => key.export({ type: "spki", format: "pem" }).toString();

/** The text of the signature file for a digest, by the private key of a PEM file. Throws StartError if the file is no such key. */
export function signer(keyFile: string): (digest: string) => string {
  const key = readKey(keyFile, createPrivateKey, "an Ed25519 private key");
  const public_key = pemOf(createPublicKey(key));
  return (digest) => {
    const signature = sign(null, signedText(digest), key).toString("base64");
    return canonical({ algorithm: "ed25519", public_key, signature } satisfies Signature);
  };
}

/** The public key of a PEM file that holds it or its private key. Throws StartError if the file holds neither. */
export const publicKeyIn = (keyFile: string): KeyObject => readKey(keyFile, createPublicKey, "an Ed25519 key");

function readKey(keyFile: string, parse: (pem: string) => KeyObject, what: string): KeyObject {
  const pem = textOf(keyFile);
  const key = parsed(() => parse(pem));
  if (key) return key;
  const hint = "make one with: openssl genpkey -algorithm ed25519 -out KEYFILE";
  throw new StartError(`${keyFile} holds no ${what.replace(/^an? /, "")} in PEM form; ${hint}`, EXIT.usage);
}

/** The text of a file that a flag names. Throws StartError if the file cannot be read. */
function textOf(keyFile: string): string {
  try {
    return readFileSync(keyFile, "utf8");
  } catch (thrown) {
    throw new StartError(`cannot use ${keyFile}: ${fileReason(thrown as NodeJS.ErrnoException)}`, EXIT.usage);
  }
}

/** An Ed25519 key; null if there is none or it is of another kind. */
function parsed(parse: () => KeyObject): KeyObject | null {
  try {
    const key = parse();
    return key.asymmetricKeyType === "ed25519" ? key : null;
  } catch {
    return null;
  }
}

/** A short name of a public key: the SHA-256 of its DER form. */
export const fingerprintOf = (key: KeyObject): string =>
  `SHA256:${sha256Hex(key.export({ type: "spki", format: "der" }))}`;

/**
 * The key that made a valid signature of this digest; null if the signature is not valid. Only the form that `signer` writes is valid. Node.js reads
 * other texts as the same key or signature, for example the private key.
 */
export function signingKey({ public_key, signature }: Signature, digest: string): KeyObject | null {
  const key = parsed(() => createPublicKey(public_key));
  const bytes = Buffer.from(signature, "base64");
  if (!key || pemOf(key) !== public_key || bytes.toString("base64") !== signature) return null;
  return verify(null, signedText(digest), key, bytes) ? key : null;
}
