import { whereThrown } from "#shared/runtime/files/thrown-position.ts";
import type { DeniedAccess, ThrownError } from "../bot-process/messages.ts";

/** The text `file:line:column: name: message` for a value that the code of a bot threw in its process. */
export function textOf(thrown: ThrownError | string, file: string): string {
  if (typeof thrown === "string") return whereThrown(thrown, file);
  const { name, message, stack, denied } = thrown;
  const text = denied === undefined ? message : deniedText(denied);
  return whereThrown(Object.assign(new Error(text), { name, stack }), file);
}

/** The rights of a bot are in docs/security.md. */
function deniedText({ permission, resource }: DeniedAccess): string {
  if (permission === "FileSystemRead") {
    return `a bot may read only code of its folder and of packages that it imports; --allow-read ${resource} allows this file`;
  }
  if (permission === "FileSystemWrite") return `a bot may write no files; --allow-write ${resource} allows this one`;
  if (permission === "Function") return `a bot may not call ${resource}`;
  const isNetwork = permission === "" || permission === "Net";
  return isNetwork
    ? "a bot may not use the network; --allow-net allows it"
    : `a bot may not start processes or threads${resource && ` (${resource})`}`;
}
