import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { ReadFile } from './read-file.js';

/** An upstream that gets fewer than one call in this many is most likely a mistake. */
const RARE_CALLS = 1_000;

export function checkUpstreamOrder(source: Source, { gateway, providers }: ReadFile): void {
  for (const [id, entry] of Object.entries(gateway.models ?? {})) {
    const upstreams = entry?.upstreams ?? [];
    const isLocal = (name = ''): boolean => providers.get(name)?.provider.local !== undefined;
    const isSimulated = upstreams.every((one) => isLocal(one?.provider));
    const pointer = `/models${join(id)}/upstreams`;
    for (const [at, one] of upstreams.entries()) {
      if (one?.weight !== undefined) checkWeight(source, pointer, upstreams, at);
      const isLast = at === upstreams.length - 1;
      const provider = providers.get(one?.provider ?? '')?.provider;
      const isFree = entry?.price === 'free' || one?.price === 'free';
      if (isLast && provider?.local && !isFree && !isSimulated) {
        source.fault(`${pointer}${join(at)}`, {
          code: 'simulated_fallback',
          message: `${quote(provider.name)} makes up its answers, and clients pay for them here`,
          hint: 'remove it: a call is not charged if no upstream answers',
          severity: 'warning',
        });
      }
      if (isLast || !provider?.local || one?.weight !== undefined) continue;
      // It is set to fail, so that the fallback can be tried.
      if (Object.hasOwn(provider.local.settings, 'fail')) continue;
      source.fault(`${pointer}${join(at + 1)}`, {
        code: 'unreached_upstream',
        message: `this upstream is never tried: ${quote(provider.name)} before it always answers`,
        hint: 'write it first, or remove it',
        severity: 'warning',
      });
    }
  }
}

type Weighted = readonly ({ readonly weight?: number | undefined } | undefined)[];

/** Warns of a weight without a neighbour that has one, and of one that wins almost no call. */
function checkWeight(source: Source, list: string, upstreams: Weighted, at: number): void {
  // A weight that is no number has a fault of its own, and counts as one here.
  const weights = upstreams.map((one, i) => {
    const entry = `${list}${join(i)}`;
    const isWritten = source.has(`${entry}/weight`) || source.hasMisspelled(entry, 'weight');
    return one?.weight ?? (isWritten ? 1 : undefined);
  });
  const pointer = `${list}${join(at)}/weight`;
  const own = weights[at];
  if (own === undefined) return;
  const before = weights.slice(0, at).findLastIndex((weight) => weight === undefined);
  const after = weights.findIndex((weight, index) => index > at && weight === undefined);
  const group = weights.slice(before + 1, after === -1 ? undefined : after);
  const sum = group.reduce<number>((total, weight) => total + (weight ?? 0), 0);
  if (group.length > 1 && sum / own < RARE_CALLS) return;
  if (group.length === 1) return reportLone(source, list, weights, at);
  const wins = `wins one call in ${Math.round(sum / own)}`;
  const message = `weight: ${source.word(pointer)} of ${sum} ${wins}`;
  const hint = 'write a larger one, or remove the entry';
  source.fault(pointer, { code: 'rare_upstream', message, hint, severity: 'warning' });
}

/** Reports a weight without a neighbour that has one. Of two about one entry the first is told. */
function reportLone(
  source: Source,
  list: string,
  weights: readonly (number | undefined)[],
  at: number,
): void {
  const isLone = (index: number): boolean =>
    weights[index] !== undefined && weights[index - 1] === undefined;
  if (isLone(at - 2)) return;
  const between = [at + 1, at - 1].find((one) => weights[2 * one - at] !== undefined);
  const report = (reason: string, hint: string): void => {
    const message = `weight: this weight has no effect: ${reason}`;
    const pointer = `${list}${join(at)}/weight`;
    source.fault(pointer, { code: 'lone_weight', message, hint, severity: 'warning' });
  };
  if (between !== undefined) {
    const { line } = source.place(`${list}${join(between)}`);
    const which = `the upstream without a weight (line ${line})`;
    report(
      `the upstream ${between > at ? 'after' : 'before'} it has none`,
      `move ${which} below the others, or give it a weight too`,
    );
    return;
  }
  const next = source.has(`${list}${join(at + 1)}`) ? at + 1 : at - 1;
  const neighbour = source.word(`${list}${join(next)}/provider`);
  report(
    'no upstream next to it has one',
    `give its neighbour, the upstream of ${neighbour}, a weight too, or remove this one`,
  );
}
