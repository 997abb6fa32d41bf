import { pointer as join, quote, type Source } from '../yaml/source.js';

/** The beginnings of model IDs that only one part of the world has, with those of its regions. */
const PARTS: Readonly<Record<string, string>> = { us: 'us', eu: 'eu', apac: 'ap' };

/** Warns of a model of one part of the world that is asked for in a region of another one. */
export function checkModelRegion(
  source: Source,
  upstream: string,
  { name, model }: { name: string; model: string },
): void {
  const place = `${upstream}/model`;
  const region_at = `/providers${join(name, 'region')}`;
  const region = source.text(region_at);
  if (region === undefined) return;
  const [, part = '', rest = ''] = /^([a-z]{2,4})\.(.+)$/.exec(model) ?? [];
  const own = PARTS[part];
  const [first = ''] = region.split('-', 1);
  const meant = Object.keys(PARTS).find((one) => PARTS[one] === first);
  const isOpen = source.has(place) && !source.hides(place) && !source.hides(region_at);
  if (own === undefined || meant === undefined || meant === part || !isOpen) return;
  const where = `the region ${quote(region)} of ${quote(name)}`;
  source.fault(place, {
    code: 'model_of_region',
    message: `model: ${source.word(place)} is not served in ${where}`,
    hint: `write "${meant}.${rest}", or a region of ${own} at ${quote(name)}`,
    severity: 'warning',
  });
}
