/** A file of undici, which declares types for its index only; without the index a pool has no more than this. */
declare module "undici/lib/dispatcher/pool.js" {
  import type { Dispatcher, Pool as Whole } from "undici";

  export default class Pool {
    constructor(origin: string, options?: Whole.Options);
    dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean;
    destroy(): Promise<void>;
    readonly stats: { readonly running: number; readonly pending: number; readonly queued: number };
  }
}
