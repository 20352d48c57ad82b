/** Loads at the first call, once for all calls; a load that failed is forgotten, since what it lacked may be there at the next call. */
export function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null;
  return () => {
    loading ??= load().catch((thrown) => {
      loading = null;
      throw thrown;
    });
    return loading;
  };
}
