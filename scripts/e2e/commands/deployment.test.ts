import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../testing/processes.ts";

const folder = join(root, "docs/deployment");
/** The texts that show commands: the document and the files that it describes. */
const texts: readonly string[] = [
  readFileSync(join(root, "docs/deployment.md"), "utf8"),
  ...readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8")),
];

/** The files of the agents that `npm run` starts. */
const AGENTS: Readonly<Record<string, string>> = {
  manager: "league-manager/main.ts",
  referee: "referee/main.ts",
  player: "player/main.ts",
};

/** A command line of this project: the file, and its words. */
interface Shown {
  readonly file: string;
  readonly words: readonly string[];
}

/** Returns the command in a line as npm, systemd, Docker or compose starts it; null if the line has none. */
function commandIn(line: string): Shown | null {
  const [, npm, npmWords = ""] = /npm run (league|manager|referee|player) --(?: |$)(.*)/.exec(line) ?? [];
  if (npm !== undefined) return { file: AGENTS[npm] ?? "scripts/league.ts", words: wordsOf(npmWords) };
  const [, file, words = ""] = /bin\/node ([\w/-]+\.ts)(.*)/.exec(line) ?? [];
  return file === undefined ? null : { file, words: wordsOf(words) };
}

/** The words of a command, without a comment. */
const wordsOf = (text: string): readonly string[] =>
  text
    .replace(/\s+#.*$/, "")
    .replace(/`.*$/, "")
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "");

/** A service of compose.yaml: its entry point, else that of the image, and its words. */
function composeCommands(): readonly Shown[] {
  const compose = readFileSync(join(folder, "compose.yaml"), "utf8");
  return [...compose.matchAll(/(?: {2}entrypoint: (\[.*\])\n)? {2,4}command: (\[.*\])/g)].map(
    ([, entry, words = ""]) => ({
      file: entry === undefined ? "scripts/league.ts" : String((JSON.parse(entry) as string[])[1]),
      words: JSON.parse(words) as string[],
    }),
  );
}

const shown = [
  ...texts.flatMap((text) => text.split("\n")).flatMap((line) => commandIn(line) ?? []),
  ...composeCommands(),
];

/** The commands before the options, e.g. `db migrate`. */
const subcommandOf = ({ file, words }: Shown): string =>
  file === "scripts/league.ts" ? words.slice(0, words[0] === "db" ? 2 : 1).join(" ") : "";
const byCommand = Map.groupBy(shown, (one) => `${one.file} ${subcommandOf(one)}`.trim());

describe("docs/deployment.md and the files in docs/deployment", () => {
  it("show commands of managers, referees, players and databases", () => {
    expect([...byCommand.keys()]).toEqual(
      expect.arrayContaining(["scripts/league.ts serve", "referee/main.ts", "scripts/league.ts db migrate"]),
    );
  });

  it.each([...byCommand.keys()])("use only options that %s has", (command) => {
    const args = [...command.split(" "), "--help"];
    const help = execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" });
    // Without a subcommand of this name, the help is that of all commands.
    expect(help).toMatch(new RegExp(`^Usage: .*${command.split(" ").slice(1).join(" ")}`));
    const known = new Set(help.match(/--[a-z][\w-]*/g));
    const used = (byCommand.get(command) ?? []).flatMap(({ words }) => words.filter((word) => word.startsWith("--")));
    expect(used.filter((option) => !known.has(option.replace(/=.*/, "")))).toEqual([]);
  });
});
