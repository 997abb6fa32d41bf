import { defaultEndpoints } from '../config/endpoints.js';
import { distance } from '../yaml/did-you-mean.js';
import { pointer as join, quote } from '../yaml/source.js';
import type { Advice } from './advice.js';

/** A path that differs from a shipped one in more letters is most likely meant. */
const SLIP = 2;

/** An endpoint of a shipped name takes the place of that one, also where its path is misspelt. */
export const lostPath: Advice = {
  code: 'lost_path',
  saves: 'the first hour: clients call an address that nothing serves any more',
  *check({ gateway, configuration: { endpoints }, modalities }) {
    const own = endpoints.filter(({ name }) => gateway.endpoints?.[name] !== undefined);
    for (const { name, method, path } of own) {
      const shipped = defaultEndpoints(modalities).find((one) => one.name === name)?.at ?? '';
      const [usual_method, usual = ''] = shipped.split(' ');
      const isCut = usual.endsWith(path);
      const isClose = isCut || distance(path, usual) <= SLIP;
      if (usual_method !== method || usual === path || !isClose) continue;
      yield {
        pointer: `/endpoints${join(name)}/at`,
        message: `at: this takes the place of ${shipped}, which nothing serves now`,
        hint: `did you mean ${quote(shipped)}?${isCut ? ' Another name keeps both' : ''}`,
      };
    }
  },
};
