import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { pgDumpCommand } from '../../../src/store/postgres/pg-dump.js';
import { placeOfStore } from '../../../src/core/store-place.js';
import {
  hasChoice,
  postgresPlaceOf,
  readPostgresHosts,
} from '../../../src/store/postgres/postgres-place.js';

describe('the URL of a PostgreSQL store', () => {
  const read: [text: string, urls: string[] | undefined, must_write?: boolean][] = [
    ['postgres://u:p@h/db', ['postgres://u:p@h/db'], false],
    ['postgres:///db?host=/run/pg', ['postgres:///db?host=/run/pg'], false],
    ['postgresql://u@h/db?target_session_attrs=primary', ['postgresql://u@h/db'], true],
    [
      'postgres://u:p@h1:5432,h2:1/db',
      ['postgres://u:p@h1:5432/db', 'postgres://u:p@h2:1/db'],
      true,
    ],
    [
      'postgres://h1,h2/db?target_session_attrs=any',
      ['postgres://h1/db', 'postgres://h2/db'],
      false,
    ],
    [
      'postgres://u@[::1]:5432,h2/db?sslmode=require&target_session_attrs=read-write&a=b',
      ['postgres://u@[::1]:5432/db?sslmode=require&a=b', 'postgres://u@h2/db?sslmode=require&a=b'],
      true,
    ],
    ['postgres://u@h1:0,h2/db', undefined],
    ['postgres://u@h1:99999/db', undefined],
    ['postgres://u@,h2/db', undefined],
    ['postgres://u:p#@h/db', undefined],
    ['sqlite:data/a.db', undefined],
  ];
  for (const [text, urls, must_write = false] of read) {
    it(`is ${urls?.length ?? 'no'} host(s) in ${text}`, () => {
      const place = readPostgresHosts(text);
      expect(place).to.deep.equal(urls && { urls, must_write });
      if (place) expect(hasChoice(place)).to.equal(must_write || place.urls.length > 1);
    });
  }

  it('yields to the name and the authority that stand beside it', () => {
    const file = fileURLToPath(import.meta.url);
    const text = `postgres://u@h1,h2/db?sslmode=require&application_name=a&b=c&sslcert=${file}`;
    const beside = { application_name: 'b', ca: file };
    const found = postgresPlaceOf({ ...placeOfStore(text), ...beside });
    expect(found.urls).to.deep.equal(['postgres://u@h1/db?b=c', 'postgres://u@h2/db?b=c']);
    expect(found.options).to.deep.include({
      application_name: 'b',
      ssl: { ca: readFileSync(file, 'utf8'), cert: readFileSync(file, 'utf8') },
    });
    expect(postgresPlaceOf(placeOfStore(text)).urls[0]).to.contain('sslmode=require');
  });

  it('names all of its hosts to pg_dump', () => {
    expect(pgDumpCommand(placeOfStore('postgres://u:p@h1:1,h2:2/db'), 'a')).to.equal(
      "pg_dump --format=custom --file=a --no-owner --dbname='postgres://u@h1:1,h2:2/db'",
    );
  });
});
