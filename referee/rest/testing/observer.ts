import { join } from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";

/** A row of any query, by the names of its columns. */
type Row = Readonly<Record<string, SQLOutputValue>>;

/** A second, read-only connection to the database of a host. */
export interface Observer {
  rows(sql: string, ...parameters: readonly string[]): readonly Row[];
  /** The first column of the first row. Throws if there is no row. */
  value(sql: string, ...parameters: readonly string[]): Row[string];
  /** Every row of every table as text. */
  dump(): string;
  /** A number that changes with each commit of another connection. */
  version(): number;
  close(): void;
}

export const databaseOf = ({ dataFolder, port }: { readonly dataFolder: string; readonly port: number }): string =>
  join(dataFolder, `referee-${port}.sqlite`);

export function observe(host: { readonly dataFolder: string; readonly port: number }): Observer {
  const db = new DatabaseSync(databaseOf(host), { readOnly: true });
  const rows: Observer["rows"] = (sql, ...parameters) => db.prepare(sql).all(...parameters);
  const value: Observer["value"] = (sql, ...parameters) => {
    const [row] = rows(sql, ...parameters);
    if (!row) throw new Error(`no row: ${sql}`);
    return Object.values(row)[0] ?? null;
  };
  return {
    rows,
    dump() {
      const names = rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").map(({ name }) => name);
      if (names.length === 0) throw new Error("the database has no tables");
      return JSON.stringify(names.map((name) => [name, rows(`SELECT * FROM "${name}" ORDER BY 1, 2`)]));
    },
    value,
    version: () => Number(value("PRAGMA data_version")),
    close: () => db.close(),
  };
}
