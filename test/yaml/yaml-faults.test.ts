import { expect } from 'chai';
import type { ConfigFault } from '../../src/core/config-fault.js';
import { parse } from '../../src/yaml/parse.js';
import { Report } from '../../src/yaml/report.js';
import { isLong } from '../helpers/long.js';

const SOUND = `listen: 127.0.0.1:8080
owners:
  openai: { name: OpenAI }
  acme:
    name: Acme
providers:
  openai:
    api_key: "\${OPENAI_API_KEY}"
    timeout:
      connect: 2s
      idle: 30s
  lab:
    uses: vllm
    base_url: http://127.0.0.1:9000/v1
models:
  a:
    owner: openai
    capabilities: [chat]
    upstreams:
      - provider: openai
        model: gpt-4o-mini
      - provider: lab
        model: llama
    limits:
      max_tokens: 16384
      context: 128000
    price: { input_per_million: 0.15, output_per_million: 0.60 }
  b:
    owner: acme
    capabilities:
      - chat
      - tools
    upstreams:
      - { provider: lab, model: tiny }
      - { provider: openai, model: gpt-4o }
    price: list
  c: { owner: acme, capabilities: [chat], upstreams: [{ provider: lab, model: t }], price: free }`;

const LINES = SOUND.split('\n');

function faultsOf(text: string): { readable: boolean; faults: ConfigFault[] } {
  const report = new Report();
  const context = { env: undefined, directory: '.', schema: 'gateway' } as const;
  const { readable } = parse('gateway.yaml', text, report, context);
  return { readable, faults: report.sorted('gateway.yaml') };
}

/** One slip in the text above: what it replaces, and the place and the words of its fault. */
type Case = [name: string, right: string, wrong: string, place: string, ...words: string[]];

const CASES: readonly Case[] = [
  ['a name one column to the right', '\n  b:', '\n   b:', '28:4', 'column 3'],
  [
    'an item one to the right',
    '      - { provider: op',
    '       - { provider: op',
    '35:8',
    'column 7',
  ],
  [
    'an item one to the left',
    '      - { provider: op',
    '     - { provider: op',
    '35:6',
    'column 7',
  ],
  ['an item without its dash', '- { provider: openai', '{ provider: openai', '35:7', 'write "- "'],
  [
    'an entry without its dash',
    '      - provider: openai',
    '      provider: openai',
    '20:7',
    '"- "',
  ],
  ['a dash too many', '      max_tokens: 16384', '      - max_tokens: 16384', '25:7', 'remove'],
  ['a key in the first column', '    capabilities: [chat]', 'capabilities: [chat]', '18:1', '5'],
  ['a block in the first column', '    limits:', 'limits:', '24:1', 'column 5'],
  ['a top key that is indented', '\nmodels:', '\n models:', '15:2', 'the first column'],
  ['a key below the dash', '        model: llama', '      model: llama', '23:7', 'column 9'],
  ['a model among the keys of another', '\n  b:', '\n    b:', '28:5', 'column 3'],
  ['a tab', '    owner: acme', '\towner: acme', '29:1', 'a tab', 'spaces'],
  ['no colon', '    owner: acme', '    owner acme', '29:5', 'colon is missing', 'owner: acme'],
  ['no colon before a block', 'models:', 'models', '15:1', 'colon is missing', 'models:'],
  ['no space behind a colon', 'owner: acme', 'owner:acme', '29:5', 'needs a space', 'owner: acme'],
  ['no space behind a dash', '- tools', '-tools', '32:7', 'a dash needs a space', '- tools'],
  ['an equals sign', 'owner: acme', 'owner = acme', '29:5', 'not with "="', 'owner: acme'],
  ['a comment of another language', '    owner: acme', '    // owner', '29:5', 'no comment', '#'],
  [
    'a second colon',
    'name: Acme',
    'name: Acme: the firm',
    '5:11',
    'second ": "',
    "'Acme: the firm'",
  ],
  ['a second colon in braces', 'name: OpenAI', 'name: A: B', '3:19', 'second ": "', "'A: B'"],
  ['an address with a space', '127.0.0.1:8080', '127.0.0.1: 8080', '1:9', '127.0.0.1:8080'],
  ['brackets of an address', '127.0.0.1:8080', '[::]:8080', '1:9', 'more text', "'[::]:8080'"],
  ['a value with @', 'owner: acme', 'owner: @acme', '29:12', 'cannot begin with @', "'@acme'"],
  ['a bare star', '[chat]', '[*]', '18:20', 'cannot begin with *', "'*'"],
  ['a bare variable in braces', 'name: OpenAI', 'name: ${NAME}', '3:19', '${...}', '"${NAME}"'],
  ['a comment in braces', 'name: OpenAI', 'name: #1', '3:19', 'is a comment', "'#1'"],
  ['an escape that is none', '"${OPENAI_API_KEY}"', '"a\\d"', '8:14', 'an escape', 'single quotes'],
  ['a comma missing', '0.15, output', '0.15 output', '27:37', 'a comma is missing'],
  ['an open bracket', '[chat]', '[chat', '18:19', '"[" is never closed', 'write "]"'],
  ['an open brace', 'name: OpenAI }', 'name: OpenAI', '3:11', '"{" is never closed', 'write "}"'],
  ['a brace too many', 'name: OpenAI }', 'name: OpenAI }}', '3:27', 'closes nothing', 'remove'],
  ['an open quote', 'owner: acme', 'owner: "acme', '29:12', 'never closed', 'end the value with "'],
  ['an open quote before others', 'idle: 30s', "idle: '30s", '11:13', 'never closed', "with '"],
  ['typographic quotes', 'name: OpenAI', 'name: “${NAME}”', '3:19', 'quotation mark'],
  ['a no-break space', 'owner: acme', 'owner:\u00a0acme', '29:11', 'no-break', 'a plain space'],
  ['a colon of Chinese text', 'owner: acme', 'owner：acme', '29:10', 'Chinese', '": "'],
  ['a second document', 'models:', '---\nmodels:', '15:1', 'second document', '---'],
  ['a merge conflict', '    owner: acme', '<<<<<<< HEAD\n    owner: acme', '29:1', 'conflict'],
  ['keys below an alias', '  b:', '  b: *a', '28:6', 'takes no keys', '<<: *a'],
];

describe('the faults of a text that is not YAML', () => {
  for (const [name, right, wrong, place, ...words] of CASES) {
    it(`name ${name}`, () => {
      const text = SOUND.replace('  a:\n', '  a: &a\n').replace(right, wrong);
      expect(text).not.to.equal(SOUND);
      const { faults } = faultsOf(text);
      const [fault] = faults;
      expect(faults.map(({ line, column }) => `${line}:${column}`)).to.deep.equal([place]);
      for (const word of words) expect(`${fault?.message}; ${fault?.hint}`).to.include(word);
    });
  }

  it('name the column of its block for each line in another one', () => {
    const wrong: unknown[] = [];
    for (const [i, line] of LINES.entries()) {
      const own = line.length - line.trimStart().length;
      const columns = [...new Set([0, own - 2, own - 1, own + 1, own + 2])];
      const others = columns.filter((column) => column >= 0 && column !== own && i > 0);
      // All of them take half a minute.
      const looked_at = isLong ? others : others.slice(i % others.length).slice(0, 1);
      for (const column of looked_at) {
        const moved = LINES.with(i, ' '.repeat(column) + line.trimStart());
        const { readable, faults } = faultsOf(moved.join('\n'));
        const hint = own === 0 ? /the first column$/ : new RegExp(`column ${own + 1}(?!\\d)`);
        const [fault] = faults;
        const isRight = faults.length === 1 && fault?.line === i + 1 && hint.test(fault.hint);
        if (!readable && !isRight) wrong.push([line, column, faults]);
      }
    }
    expect(wrong).to.deep.equal([]);
  });

  it('are all told at once', () => {
    const text = SOUND.replace('owner: acme', 'owner acme').replace('[chat]', '[chat');
    expect(faultsOf(text).faults.map(({ line }) => line)).to.deep.equal([18, 29]);
  });

  it('show no secret', () => {
    const text = SOUND.replace('"${OPENAI_API_KEY}"', 'S3cr3t-Value-9: x');
    const { message, hint } = faultsOf(text).faults[0] ?? {};
    expect(`${message} ${hint}`).not.to.include('S3cr3t');
  });
});
