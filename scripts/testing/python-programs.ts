import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./processes.ts";

/** Returns the first Python program in a section of a document. */
function programOf(document: string, section: string): string {
  const [, text = ""] = readFileSync(join(root, document), "utf8").split(`\n## ${section}\n`);
  const [, program] = /```python\n(.*?)```/s.exec(text.split("\n## ", 1)[0] ?? "") ?? [];
  if (program === undefined) throw new Error(`${document} has no Python program in the section ${section}`);
  return program;
}

/** The player of docs/bots.md that calls the tools of the manager. */
export const turnsProgram = programOf("docs/bots.md", "Players that cannot be called");
/** The player of docs/network-players.md that polls its inbox. */
export const inboxProgram = programOf("docs/network-players.md", "Inbox");
