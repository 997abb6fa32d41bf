/** A function that works out its answer once for each object, and keeps both alike long. */
export function oncePer<Key extends object, Answer>(
  make: (key: Key) => Answer,
): (key: Key) => Answer {
  const made = new WeakMap<Key, { answer: Answer }>();
  return (key) => {
    const known = made.get(key) ?? { answer: make(key) };
    made.set(key, known);
    return known.answer;
  };
}
