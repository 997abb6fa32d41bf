import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DASHBOARD_PATHS } from '../../src/config/endpoints.js';

const FOLDERS = ['dashboard', 'actions'].map((name) =>
  fileURLToPath(new URL(`../../src/${name}/`, import.meta.url)),
);

describe('the paths that no endpoint may take', () => {
  it('are those of all routes of the dashboard', () => {
    const texts = FOLDERS.flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.tsx?$/u.test(name) && !name.startsWith('client'))
        .map((name) => readFileSync(join(folder, name), 'utf8')),
    );
    const found = texts.flatMap((text) =>
      [...text.matchAll(/\bpath: '\/([^/']*)/gu)].map(([, first = '']) => first),
    );
    // The playground calls the gateway's own endpoints.
    const routes = new Set(found.filter((first) => first !== 'v1'));
    expect([...routes].toSorted()).to.deep.equal([...DASHBOARD_PATHS].toSorted());
  });
});
