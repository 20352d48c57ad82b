/** Loads at the first call, once for all calls. A failed load is repeated at the next call. */
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

/** Makes a value at the first call, for tables that few processes need. */
export function memoized<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
