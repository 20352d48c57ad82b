/** A process in place of a measurement, for tests: `hangs`, `crashes`, or takes its figures. */
const [behaviour = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
process.send?.({ step: "the first step" });
if (behaviour === "crashes") throw new Error("a fault of the measurement");
if (behaviour === "takes") process.send?.({ figures: { perSecond: 7 } }, () => process.exit());
