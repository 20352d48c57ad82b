import { AggregatorRegistry, collectDefaultMetrics, type PrometheusContentType, Registry } from "prom-client";
import type { MetricFamily } from "./metric-families.ts";

/** The metrics of the process: CPU, memory, garbage collections, delay of the event loop. */
const ofProcess = new Registry();
collectDefaultMetrics({ register: ofProcess });

/** Returns metrics with those of the process, in the text format of Prometheus. */
export async function metricsText(families: readonly MetricFamily[]): Promise<{ type: string; text: string }> {
  const written = AggregatorRegistry.aggregate<PrometheusContentType>([
    families,
    await ofProcess.getMetricsAsJSON(),
  ] as object[]);
  return { type: written.contentType, text: await written.metrics() };
}
