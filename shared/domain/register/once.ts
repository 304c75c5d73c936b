/** Loads something when it is first asked for, and only then. */
export function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  const loaded = once(load);
  return () => loaded(undefined);
}

/**
 * Loads things by their id, each when it is first asked for, and only then. So a thing can be asked for ahead of
 * time by somebody who does not wait for it: a failure is heard by those who do.
 */
export function once<K, T>(load: (id: K) => Promise<T>): (id: K) => Promise<T> {
  const loading = new Map<K, Promise<T>>();
  return (id) => {
    const known = loading.get(id) ?? load(id);
    known.catch(() => {});
    loading.set(id, known);
    return known;
  };
}
