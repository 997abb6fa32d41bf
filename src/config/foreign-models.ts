import type { ModelNames } from './model-names.js';
import type { ListPrices } from './list-prices.js';
import { flow } from '../yaml/schema-walk.js';
import { quote, type FaultDetails, type Source } from '../yaml/source.js';

interface Asked {
  source: Source;
  /** The manifest of the provider that is asked. */
  manifest: string;
  /** The models that it is known to have. */
  names: ModelNames;
  model: string;
  /** Whether the upstream names the model itself. */
  isOwn: boolean;
  /** The region of the provider. */
  region: string | undefined;
}

/** `key` says which key of the upstream is to be edited, if not that of the model. */
type Wrong = Pick<FaultDetails, 'message' | 'hint'> & { key?: 'provider' | undefined };

/** What is wrong with a model ID that is not one of a provider; undefined for a plausible one. */
export function foreignModel(asked: Asked, prices: ListPrices): Wrong | undefined {
  const { manifest, model, names, isOwn } = asked;
  if (!prices.has(manifest)) return undefined;
  const vendor = model.slice(0, Math.max(model.indexOf('/'), 0));
  const bare = prices.has(vendor) ? model.slice(vendor.length + 1) : model;
  const message = `model: the gateway knows no model ${quote(model)} of ${manifest}`;
  if (vendor === manifest && isOwn) return undefined;
  const whole = vendor === manifest ? names.exact(bare) : inRegion(asked, names.longer(bare));
  if (whole !== undefined) {
    return { message, hint: isOwn ? `did you mean ${quote(whole)}?` : `add model: ${flow(whole)}` };
  }
  const last = names.exact(model.slice(model.lastIndexOf('/') + 1));
  if (last !== undefined && isOwn) return { message, hint: `did you mean ${quote(last)}?` };
  if (names.hasFamily(model)) return undefined;
  const owner = prices.ownerOf(bare);
  if (owner !== undefined) {
    return {
      message: `model: ${quote(model)} is a model of ${owner}, not of ${manifest}`,
      ...ownerHint(asked, owner, bare),
    };
  }
  const isAlias = !isOwn && /^[a-z]+(?:-[a-z]+)*$/.test(model) && !/latest|preview/.test(model);
  const example = flow(names.first ?? 'ID');
  return isAlias ? { message, hint: `add model: ID, such as model: ${example}` } : undefined;
}

/** The ID of the part of the world of the region, as `us.NAME` in us-east-1, or of all of it. */
function inRegion({ names, region = '' }: Asked, id: string | undefined): string | undefined {
  const areas = [region.replace(/-.*/, ''), 'global'];
  return id && (areas.map((area) => names.exact(`${area}.${id}`)).find(Boolean) ?? id);
}

/** The provider to write, which must be added where the file has none with that manifest. */
function ownerHint(
  { source, model }: Asked,
  owner: string,
  bare: string,
): Pick<Wrong, 'hint' | 'key'> {
  const keys = source.keys('/providers') ?? [];
  const own = keys.find(
    (name) => source.text(`/providers/${name}/uses`) === owner || name === owner,
  );
  const uses = own === undefined ? undefined : source.text(`/providers/${own}/uses`);
  if (own !== undefined && uses !== undefined && uses !== owner)
    return { hint: `write uses: ${owner} in the entry of ${quote(own)}`, key: 'provider' };
  const id = bare === model ? '' : ` and model: ${flow(bare)}`;
  const name = own === undefined ? owner : flow(own);
  const add = own === undefined ? `add ${owner} under providers, and ` : '';
  return { hint: `${add}write provider: ${name}${id}`, key: 'provider' };
}

const DATE = /^(.*?)(20\d{2})(-?)(\d{2})-?(\d{2})((?:-v\d.*)?)$/;

/** What is wrong with the date in the ID of a snapshot; undefined for a day of the calendar. */
export function wrongDate(model: string): Wrong | undefined {
  const [, name = '', year = '', dash = '', month = '', day = '', end = ''] =
    DATE.exec(model) ?? [];
  if (year === '' || isDay(year, month, day)) return undefined;
  const [first = '', second = ''] = day;
  const meant = [
    [month, second + first],
    [day, month],
  ].find(([one = '', other = '']) => isDay(year, one, other));
  const hint =
    meant === undefined
      ? 'check its last digits'
      : `did you mean ${quote(name + [year, ...meant].join(dash) + end)}?`;
  const message = `model: ${quote(model)} has a date that no calendar has`;
  return { message, hint };
}

function isDay(year: string, month: string, day: string): boolean {
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}
