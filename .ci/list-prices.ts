import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { readCatalogue } from '../src/catalogue/read-catalogue.js';
import { catalogueList, type DatedCatalogue } from '../src/config/catalogue-lists.js';
import { readShippedFacts } from '../src/config/shipped.js';
import type { ListPrices } from '../src/schema-types/prices.js';

/**
 * Makes providers/prices/list.json from files with public catalogues, the newest first:
 * `npm run prices -- FILE SOURCE DATE [FILE SOURCE DATE]…`. What none of them has stays.
 */
const TARGET = fileURLToPath(new URL('../providers/prices/list.json', import.meta.url));

const catalogues: DatedCatalogue[] = [];
const words = process.argv.slice(2);
while (words.length > 0) {
  const [file = '', source = '', date = ''] = words.splice(0, 3);
  const { models, skipped } = await readCatalogue(file);
  console.log(`${file}: ${models.size} providers, ${skipped} entries left out`);
  catalogues.push({ source, date, models });
}

const before = JSON.parse(await readFile(TARGET, 'utf8')) as ListPrices;
const lists: ListPrices['lists'] = {};
const manifests = new Map((await readShippedFacts()).map((facts) => [facts.name, facts]));
const order = [...new Set([...Object.keys(before.lists), ...manifests.keys()])];
for (const name of order) {
  const manifest = manifests.get(name);
  const known = before.lists[name];
  const list = manifest && catalogueList(manifest, catalogues, known);
  const { open_weights, resells = !known } = known ?? {};
  const marks = { ...(open_weights && { open_weights }), ...(resells && { resells }) };
  if (list) lists[name] = { ...marks, ...list };
  else if (known) lists[name] = known;
}
await writeFile(TARGET, textOfLists({ lists }));

const count = Object.values(lists).reduce((sum, { models }) => sum + Object.keys(models).length, 0);
console.log(`${Object.keys(lists).length} manifests, ${count} prices`);

/** JSON with one line for each model, so that a change can be reviewed. */
function textOfLists(file: ListPrices): string {
  const blocks = Object.entries(file.lists).map(([name, { models, about = {}, ...rest }]) => {
    const head = JSON.stringify(rest).slice(1, -1);
    const rows = (part: object): string =>
      Object.entries(part)
        .map(([id, value]) => `${JSON.stringify(id)}:${JSON.stringify(value)}`)
        .join(',\n');
    return `${JSON.stringify(name)}:{${head},"models":{\n${rows(models)}},"about":{\n${rows(about)}}}`;
  });
  return `{"lists":{\n${blocks.join(',\n')}}}\n`;
}
