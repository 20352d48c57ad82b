import { gameIds } from "#shared/games/registry.ts";
import { configSchema } from "../commands/config-schema.ts";
import { exportedFolders, FOLDERS, helpTexts, namesIn, printedDocuments, verifiedExports } from "./commands.ts";
import { documentsOf, interfacesOfServers } from "./interfaces.ts";
import { leaguesOf } from "./leagues.ts";
import { DIALECTS, messagesOf } from "./messages.ts";

/** The texts of some files of the record, by file name. */
export type Texts = ReadonlyMap<string, string>;

/** A part of the record, which is made by itself. */
interface Part {
  readonly name: string;
  /** `seeds`: how many seeds of each game are played. */
  readonly make: (seeds: number) => Promise<Texts>;
}

/** A part with one file. */
const oneFile = (name: string, make: (seeds: number) => string | Promise<string>): Part => ({
  name,
  make: async (seeds) => new Map([[`${name}.txt`, await make(seeds)]]),
});

/** The parts of the record, those that take longest first. */
export const PARTS: readonly Part[] = [
  ...gameIds.toReversed().map((game) => oneFile(`leagues/${game}`, (seeds) => leaguesOf(game, seeds))),
  oneFile("help", helpTexts),
  oneFile("commands", printedDocuments),
  ...namesIn(FOLDERS).map((name) => oneFile(`documents/${name}`, () => documentsOf(name))),
  oneFile("verify", verifiedExports),
  oneFile("exports", exportedFolders),
  {
    name: "servers",
    make: async () => new Map([...(await interfacesOfServers())].map(([name, text]) => [`servers/${name}.txt`, text])),
  },
  { name: "messages", make: messages },
  oneFile("config-schema", configSchema),
];

async function messages(): Promise<Texts> {
  const texts = new Map<string, string>();
  for (const game of gameIds) {
    for (const dialect of DIALECTS) texts.set(`messages/${game}-${dialect}.txt`, await messagesOf(game, dialect));
  }
  return texts;
}
