import { expect } from 'chai';
import { stageFaults } from '../helpers/stage-faults.js';
import { FAULT_FORMATS, format } from '../../src/yaml/format.js';
import { hideSecrets, withoutSecrets } from '../../src/yaml/secrets.js';

const KEY = 'sk-proj-AbCdEfGhIjKlMnOp0123';

describe('the secrets of a line', () => {
  const hidden: Record<string, string> = {
    [`base_url: https://api.openai.com/v1?key=${KEY}`]: KEY,
    [`api_key:${KEY}`]: KEY,
    [`model: ${KEY}`]: KEY,
    'api_key abcdef0123456789ab': 'abcdef0123456789ab',
    'headers: { x-honeycomb-team: abcdef0123456789ab }': 'abcdef0123456789ab',
    'api_key: plain-words-alone': 'plain-words',
    'store: postgres://u:p@ss/w#rd@db/tollgate': 'w#rd',
    'store: postgres//u:hunter2@db/tollgate': 'hunter2',
    'store: postgres:u:hunter2@db/tollgate': 'hunter2',
    'store: jdbc:postgresql://db/x?user=u&password=hunter2': 'hunter2',
    'store: host=db password=hunter2 user=u': 'hunter2',
    'slack: https://hooks.slack.com/services/T000/B000/XXXX': 'XXXX',
    'webhook: https://discord.com/api/webhooks/1/abcdef': 'abcdef',
    'api_key: "${OPENAI_API_KEY:-standby-key}"': 'standby-key',
  };
  for (const [line, secret] of Object.entries(hidden)) {
    it(`are hidden in ${line.replace(secret, '...')}`, () => {
      const shown = withoutSecrets(line);
      expect(shown).not.to.include(secret);
      expect(shown).to.have.lengthOf(line.length);
    });
  }

  for (const line of [
    'api_key: "${OPENAI_API_KEY}"',
    'api_key: ${file:/run/secrets/key}',
    'public_url: http://127.0.0.1:8080',
    'store: postgres://u:${DB_PASSWORD}@db/tollgate',
    'cors: [https://app.example.com, https://example.com:8443]',
    "allow: ['@example.org', ada@example.com]",
    'price: { input_cost_per_token: 0.15 }',
  ]) {
    it(`leave ${line} as it is`, () => {
      expect(withoutSecrets(line)).to.equal(line);
    });
  }

  it('are hidden in a sentence about the line, whole or by their beginning', () => {
    const line = `api_key: 'abc"def0123456789-ghijkl'`;
    for (const shown of ['abc\\"def0123456789-ghijkl', 'abc\\"def01234...']) {
      expect(hideSecrets(`"${shown}" is no key`, line)).not.to.match(/abc|def/);
    }
    expect(hideSecrets('write api_key: "${OPENAI_API_KEY}"', line)).to.include('OPENAI_API_KEY');
  });

  it('are hidden in what is said of stages', async () => {
    const [fault = ''] = await stageFaults(`auth, ${KEY}`);
    expect(fault).to.match(/^5:\d+ unknown_stage /);
    expect(fault).not.to.include(KEY);
  });

  it('are hidden before a long line is cut', () => {
    const line = `store: postgres://u:${'hunter2'.repeat(40)}@db/tollgate`;
    const place = { file: 'gateway.yaml', line: 1, column: 8 };
    const fault = {
      severity: 'error',
      code: 'bad_store',
      message: 'm',
      hint: '',
      ...place,
    } as const;
    for (const style of FAULT_FORMATS) {
      expect(format([fault], style, () => [line])).not.to.include('hunter2');
    }
  });
});
