/** A function whose calls with one key share an answer, as long as the first of them runs. */
export function sharing<Key, T>(make: (key: Key) => Promise<T>): (key: Key) => Promise<T> {
  const running = new Map<Key, Promise<T>>();
  return (key) => {
    const known = running.get(key);
    if (known) return known;
    const made = make(key).finally(() => running.delete(key));
    running.set(key, made);
    return made;
  };
}
