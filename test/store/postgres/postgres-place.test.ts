import { expect } from 'chai';
import { pgDumpCommand } from '../../../src/store/postgres/pg-dump.js';
import { hasChoice, readPostgresPlace } from '../../../src/store/postgres/postgres-place.js';

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
      const place = readPostgresPlace(text);
      expect(place).to.deep.equal(urls && { urls, must_write });
      if (place) expect(hasChoice(place)).to.equal(must_write || place.urls.length > 1);
    });
  }

  it('names all of its hosts to pg_dump', () => {
    expect(pgDumpCommand('postgres://u:p@h1:1,h2:2/db', 'a')).to.equal(
      "pg_dump --format=custom --file=a --no-owner --dbname='postgres://u@h1:1,h2:2/db'",
    );
  });
});
