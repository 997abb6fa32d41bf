import { boxesOf, type Box } from '../telemetry/boxes.js';
import { listAction } from './action.js';
import { isoTime } from './shapes.js';

/** The boxes that serve this store. */
export const listBoxes = listAction({
  name: 'box list',
  rows: async ({ store }) => boxesOf(await store.processes()).boxes,
  routes: [
    {
      method: 'GET',
      path: '/api/boxes',
      scope: 'gateway:read',
      id: 'listBoxes',
      summary: 'List the boxes that serve this store, and the parts in which they differ',
      status: 200,
      answer: 'BoxList',
    },
  ],
  shape: boxShape,
  csv: {
    file: 'boxes.csv',
    columns: () => [
      'host',
      'listen',
      'health',
      'version',
      'configuration',
      'prices',
      'clock_offset_ms',
      'pids',
      'started',
      'seen',
      'differs_in',
    ],
  },
  command: {
    about: 'show the boxes that serve this store, and where they differ',
    example: 'tollgate box list',
    is_whole: true,
    none: () => 'No box serves this store.',
  },
});

export function boxShape(box: Box) {
  const { started_ms, seen_ms, ...rest } = box;
  return { ...rest, started: isoTime(started_ms), seen: isoTime(seen_ms) };
}
