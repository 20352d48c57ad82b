/**
 * Returns a function that loads at its first call and returns the same promise to all callers. After a failure the next
 * call loads again.
 */
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

/**
 * Returns a function that creates a value at its first call and returns it from then on, for tables that few processes
 * need.
 */
export function memoized<T>(create: () => T): () => T {
  let created: { readonly value: T } | null = null;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
}
