import type { ClientBase } from "pg";
import { TRIGGER_FUNCTIONS } from "./log-tables.ts";

interface Trigger {
  readonly name: string;
  readonly table: string;
  readonly function: keyof typeof TRIGGER_FUNCTIONS;
  /** `pg_trigger.tgtype`: 2 before, 4 insert, 8 delete, 16 update, 32 truncate; for each statement. */
  readonly type: number;
}

const GAPLESS: Trigger = { name: "log_gapless", table: "log", function: "check_log_gapless", type: 4 };

const appendOnlyTrigger = (table: string): Trigger => ({
  ...{ name: `${table}_append_only`, table, function: "reject_change", type: 2 + 8 + 16 + 32 },
});

const SELECT_TRIGGERS = `
  SELECT tgname AS name, relname AS table, tgtype AS type, tgenabled AS enabled, prosrc AS source
  FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid JOIN pg_class ON pg_class.oid = tgrelid
  WHERE NOT tgisinternal AND tgqual IS NULL AND tgattr = '' AND relnamespace = current_schema()::regnamespace`;

/** Returns one sentence for each trigger of the log and of append-only tables that is missing, disabled or altered. */
export async function triggerFaults(client: ClientBase, tables: readonly string[]): Promise<readonly string[]> {
  const { rows } = await client.query(SELECT_TRIGGERS);
  return [GAPLESS, ...tables.map(appendOnlyTrigger)].flatMap((trigger) => {
    const { name, table } = trigger;
    const found = rows.find((row) => row.name === name && row.table === table);
    if (!found) return [`table ${table} does not have the trigger ${name} of this version`];
    if (found.type !== trigger.type || found.source !== TRIGGER_FUNCTIONS[trigger.function])
      return [`trigger ${name} of table ${table} has been altered`];
    return found.enabled === "A" ? [] : [`trigger ${name} of table ${table} is disabled`];
  });
}
