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
