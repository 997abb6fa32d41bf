import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DASHBOARD_PATHS } from '../../src/config/endpoints.js';

const DASHBOARD = fileURLToPath(new URL('../../src/dashboard/', import.meta.url));

describe('the paths that no endpoint may take', () => {
  it('are those of all routes of the dashboard', () => {
    const texts = readdirSync(DASHBOARD, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/u.test(name) && !name.startsWith('client'))
      .map((name) => readFileSync(join(DASHBOARD, name), 'utf8'));
    const found = texts.flatMap((text) =>
      [...text.matchAll(/\bpath: '\/([^/']*)/gu)].map(([, first = '']) => first),
    );
    // The playground calls the gateway's own endpoints.
    const routes = new Set(found.filter((first) => first !== 'v1'));
    expect([...routes].toSorted()).to.deep.equal([...DASHBOARD_PATHS].toSorted());
  });
});
