import type { Express } from "express";
import { equalSecrets } from "#shared/lib/hash.ts";
import { isLoopback } from "#shared/protocol/addresses.ts";
import { bearerOf, remoteAddressOf } from "#shared/rpc/http/request.ts";
import type { ManagerMetrics } from "./manager-metrics.ts";

/**
 * `GET /metrics`: the metrics of the manager in the text format of Prometheus, for programs on this machine and for the operator token. The library is
 * loaded by the first request, so that it does not delay the start.
 */
export const metricsRoutes =
  (metrics: Pick<ManagerMetrics, "families">, operatorToken: string) =>
  (app: Express): void => {
    app.get("/metrics", async (request, response) => {
      response.set("cache-control", "no-store");
      if (!isLoopback(remoteAddressOf(request)) && !equalSecrets(bearerOf(request) ?? "", operatorToken)) {
        const message =
          bearerOf(request) === null
            ? "From another machine, send the operator token: Authorization: Bearer TOKEN"
            : "The token is not the operator token of this manager, which is in the file operator-token of its data folder";
        response
          .status(401)
          .set("www-authenticate", "Bearer")
          .json({ error: { code: "UNAUTHORIZED", message } });
        return;
      }
      const { metricsText } = await import("./text.ts");
      const { type, text } = await metricsText(await metrics.families());
      response.set("content-type", type).send(text);
    });
  };
