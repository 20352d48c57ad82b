/** Declares the part of undici's pool that is used here. undici has types for its index only, not for this file. */
declare module "undici/lib/dispatcher/pool.js" {
  import type { Dispatcher, Pool as UndiciPool } from "undici";

  export default class Pool {
    constructor(origin: string, options?: UndiciPool.Options);
    dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean;
    destroy(): Promise<void>;
    readonly stats: { readonly running: number; readonly pending: number; readonly queued: number };
  }
}
