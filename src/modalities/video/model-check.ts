import type { ProviderManifest } from '../../schema-types/provider.js';
import type { CheckedModel, CheckedUpstream } from '../../pipeline/model-check.js';
import { pointer as join, quote } from '../../yaml/source.js';
import type { PartialLoad } from '../../yaml/validate.js';

/** Warns of lengths and resolutions that clients may name, and that are refused then. */
export function checkVideoModel(model: CheckedModel): void {
  checkLength(model);
  checkTaken(model);
  checkResolutions(model);
}

type Accepts = NonNullable<
  NonNullable<NonNullable<PartialLoad<ProviderManifest>['operations']>['video.submit']>['accepts']
>;

/** The values of a field that each upstream takes; none for an upstream that may take any. */
function acceptedBy<Value>(
  upstreams: readonly CheckedUpstream[],
  valuesOf: (accepts: Accepts) => readonly (Value | undefined)[] | undefined,
): Value[][] {
  return upstreams.map(({ read }) => {
    const { accepts = {} } = read.manifest.data.operations?.['video.submit'] ?? {};
    return (valuesOf(accepts) ?? []).filter((one) => one !== undefined);
  });
}

/** Warns of a length that no upstream takes, as clients who name none would be refused. */
function checkLength({ source, pointer, limits, upstreams }: CheckedModel): void {
  const place = `${pointer}/limits/duration_seconds`;
  const { duration_seconds: length } = limits;
  if (length === undefined || !source.has(place)) return;
  const accepted = acceptedBy(upstreams, ({ duration_seconds }) => duration_seconds);
  const [taken] = accepted;
  // An upstream without a list may take any.
  if (!taken || accepted.some((one) => one.length === 0 || one.includes(length))) return;
  const name = quote(upstreams[0]?.upstream.provider.name ?? '');
  const usual = `${source.word(place)}, the length of a call that names none`;
  source.fault(place, {
    code: 'out_of_range',
    message: `limits.duration_seconds: ${name} takes ${taken.join(', ')}, and not ${usual}`,
    hint: `did you mean "${taken.findLast((one) => one < length) ?? taken[0]}"?`,
    severity: 'warning',
  });
}

/** Warns of a resolution that no upstream takes: calls for it are refused. */
function checkTaken({ source, pointer, limits, upstreams }: CheckedModel): void {
  const accepted = acceptedBy(upstreams, ({ resolution }) => resolution);
  const taken = [...new Set(accepted.flat())];
  // An upstream without a list may take any.
  if (taken.length === 0 || accepted.some(({ length }) => length === 0)) return;
  const served = `${quote(upstreams[0]?.upstream.provider.name ?? '')} takes ${taken.join(', ')}`;
  (limits.resolutions ?? []).forEach((resolution, i) => {
    if (resolution === undefined || taken.some((one) => one === resolution)) return;
    source.fault(`${pointer}/limits/resolutions${join(i)}`, {
      code: 'out_of_range',
      message: `limits.resolutions: ${served}, and not ${quote(resolution)}`,
      hint: 'remove it, with its price',
      severity: 'warning',
    });
  });
}

/** Warns of a resolution without a price, which is always refused. */
function checkResolutions({ source, pointer, limits, upstreams }: CheckedModel): void {
  if (upstreams.some(({ upstream }) => upstream.price.free)) return;
  const kinds = upstreams.flatMap(({ upstream: { price } }) => {
    return [...(price.per_video_second?.keys() ?? [])];
  });
  if (kinds.length === 0) return;
  const sold = [...new Set(kinds.map((kind) => kind.split('/', 1)[0] ?? ''))];
  for (const [i, resolution] of (limits.resolutions ?? []).entries()) {
    if (resolution === undefined || sold.includes(resolution)) continue;
    const isMeant = upstreams.some(({ price_at }) =>
      source.hasMisspelled(`${price_at}/per_video_second`, resolution, sold),
    );
    if (isMeant) continue;
    source.fault(`${pointer}/limits/resolutions${join(i)}`, {
      code: 'unpriced_resolution',
      message: `limits.resolutions: no price covers ${quote(resolution)}, so it is refused`,
      hint: `add it to per_video_second, which has ${sold.join(', ')}, or remove it here`,
      severity: 'warning',
    });
  }
}
