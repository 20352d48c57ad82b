import { messageOf } from "#shared/lib/result.ts";
import { type Conditions, MEASUREMENTS, type Round } from "./rates.ts";

/** A process that takes one measurement: `NAME CONDITIONS`, as JSON. It sends its steps, `{step}`, and at the end its figures, `{figures}`, or its fault, `{fault}`. */
const [name = "", conditions = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
const send = (message: object): Promise<void> => new Promise((resolve) => process.send?.(message, () => resolve()));
try {
  const measure = MEASUREMENTS[name as keyof Round];
  const figures = await measure(JSON.parse(conditions) as Conditions, (step) => void send({ step }));
  await send({ figures });
} catch (error) {
  await send({ fault: messageOf(error) });
}
process.exit();
