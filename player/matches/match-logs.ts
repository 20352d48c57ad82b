import { join } from "node:path";
import type { Clock } from "#shared/lib/clock.ts";
import type { GameInvite } from "#shared/protocol/messages.ts";
import type { Disk } from "#shared/runtime/files/disk.ts";
import { fileNameOf } from "#shared/runtime/files/file-name.ts";

/** The maximum number of characters that this process writes about one match. */
const MAX_CHARACTERS = 1_000_000;
/** The number of matches whose written characters are counted. */
const MAX_MATCHES = 1_000;

type LoggedMatch = Pick<GameInvite, "league_id" | "match_id" | "epoch">;

/** The lines of a bot, in one file for each match: its own output, and the stderr of a program that plays by lines. */
export class MatchLogs {
  readonly #folder: () => string;
  readonly #disk: Pick<Disk, "addLine">;
  readonly #clock: Clock;
  readonly #onLost: (error: Error) => void;
  readonly #written = new Map<string, number>();

  /** `onLost` is called with an error of the file system. The match continues without its file. */
  constructor(folder: () => string, disk: Pick<Disk, "addLine">, clock: Clock, onLost: (error: Error) => void) {
    this.#folder = folder;
    this.#disk = disk;
    this.#clock = clock;
    this.#onLost = onLost;
  }

  add({ league_id, match_id, epoch }: LoggedMatch, line: string): void {
    const name = epoch === 1 ? `${fileNameOf(match_id)}.log` : `${fileNameOf(match_id)}-${epoch}.log`;
    const file = join(this.#folder(), fileNameOf(league_id), name);
    const written = this.#written.get(file) ?? 0;
    if (written > MAX_CHARACTERS) return;
    if (this.#written.size >= MAX_MATCHES) this.#written.delete(this.#written.keys().next().value ?? "");
    this.#written.set(file, written + line.length);
    const isFull = written + line.length > MAX_CHARACTERS;
    const text = isFull ? `more than ${MAX_CHARACTERS} characters; further lines are omitted` : line;
    try {
      this.#disk.addLine(file, `${new Date(this.#clock.now()).toISOString()} ${text}`);
    } catch (thrown) {
      this.#onLost(thrown as Error);
    }
  }
}
