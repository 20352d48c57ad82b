import type { Express } from "express";
import { ASSETS_PATH, assets } from "./assets.ts";

const HEADERS = { "cache-control": "public, max-age=31536000, immutable", vary: "accept-encoding" };

/** Serves the files of pages. */
export function assetRoutes(app: Express): void {
  app.get(`${ASSETS_PATH}:name`, async (request, response, next) => {
    const found = (await assets()).files.get(ASSETS_PATH + request.params.name);
    if (!found) return next();
    response.set(HEADERS).type(found.type);
    if (request.acceptsEncodings("gzip")) response.set("content-encoding", "gzip").end(found.gzip);
    else response.end(found.body);
  });
}
