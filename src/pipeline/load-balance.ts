import type { Upstream } from '../core/model.js';

/**
 * Returns the order in which upstreams are tried: the order of the file, except that neighbours
 * with a `weight` share the load in proportion to it.
 */
export function orderByWeight(
  upstreams: readonly Upstream[],
  random: () => number,
): readonly Upstream[] {
  if (upstreams.length === 1) return upstreams;
  const ordered: Upstream[] = [];
  for (let from = 0; from < upstreams.length;) {
    let to = from + 1;
    if (upstreams[from]?.weight !== undefined) {
      while (upstreams[to]?.weight !== undefined) to += 1;
    }
    ordered.push(...byWeight(upstreams.slice(from, to), random));
    from = to;
  }
  return ordered;
}

function byWeight(group: Upstream[], random: () => number): Upstream[] {
  const drawn: Upstream[] = [];
  while (group.length > 1) {
    let rest = random() * group.reduce((sum, { weight }) => sum + (weight ?? 1), 0);
    const at = group.findIndex(({ weight }) => (rest -= weight ?? 1) < 0);
    drawn.push(...group.splice(Math.max(at, 0), 1));
  }
  return [...drawn, ...group];
}
