import { expect } from 'chai';
import { isList } from '../../src/actions/action.js';
import { ACTIONS, GROUPS } from '../../src/actions/index.js';
import { SCOPE_NAMES } from '../../src/core/scopes.js';
import { readShippedSchema } from '../../src/lib/schemas.js';

const ROUTES = ACTIONS.flatMap(({ routes = [] }) => routes);

function repeated(words: readonly string[]): string[] {
  return words.filter((word, at) => words.indexOf(word) !== at);
}

describe('the table of actions', () => {
  it('has each name, operation and route once', () => {
    expect(repeated(ACTIONS.map(({ name }) => name))).to.deep.equal([]);
    expect(repeated(ROUTES.map(({ id }) => id))).to.deep.equal([]);
    expect(repeated(ROUTES.map(({ method, path }) => `${method} ${path}`))).to.deep.equal([]);
  });

  it('groups the commands of two words', () => {
    const commands = ACTIONS.filter(({ command }) => command).map(({ name }) => name.split(' '));
    const grouped = commands.filter(({ length }) => length > 1).map(([first]) => first);
    expect([...new Set(grouped)]).to.have.members(Object.keys(GROUPS));
  });

  it('asks for fields that the input has', () => {
    for (const { name, schema, fields = {}, ...action } of ACTIONS) {
      if (!schema || isList({ name, ...action })) continue;
      const known = Object.keys(readShippedSchema(schema).properties as object);
      const path = action.routes?.[0]?.path.includes(':keyID')
        ? ['account_id', 'key_id']
        : ['account_id'];
      const asked = Object.keys(fields).map((field) => field.split('.')[0]);
      expect([...known, ...path], name).to.include.members(asked);
    }
  });

  it('lets tokens in by every scope', () => {
    const named = ACTIONS.flatMap(({ routes = [] }) => routes.flatMap(({ scope }) => scope ?? []));
    expect([...new Set(named)].sort()).to.deep.equal([...SCOPE_NAMES].sort());
  });
});
