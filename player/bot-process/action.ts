import { kindOf } from "#shared/lib/text.ts";

/** A bot returned no action. The message says what it returned, without the content, so that the referee may receive it. */
export class NotAnAction extends Error {}

/** Whether JSON has no such value: NaN, Infinity and BigInts. */
const isForeign = (value: unknown): boolean =>
  typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value));

/** Returns a value that a bot returned. Throws NotAnAction if JSON would change it to null, or cannot contain it. */
export function checkedAction(action: unknown): unknown {
  if (typeof action === "function" || typeof action === "symbol") throw notJson(kindOf(action));
  const foreign: unknown[] = [];
  try {
    JSON.stringify(action, (_key, value: unknown) => {
      if (!isForeign(value)) return value;
      foreign.push(value);
      return null;
    });
  } catch (thrown) {
    const isCircular = thrown instanceof TypeError && thrown.message.startsWith("Converting circular structure");
    throw isCircular ? notJson(`${kindOf(action)} that contains itself`) : thrown;
  }
  if (foreign.length === 0) return action;
  const [first] = foreign;
  throw notJson(isForeign(action) ? kindOf(action) : `${kindOf(action)} that contains ${kindOf(first)}`);
}

const notJson = (returned: string): NotAnAction =>
  new NotAnAction(`the bot returned ${returned}; an action must be a JSON value`);
