import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigError } from '../../src/config/config-error.js';
import { load } from '../../src/config/load.js';
import { timeZoneOf } from '../../src/config/single-settings.js';
import { MODALITIES } from '../../src/modalities/index.js';

describe('time_zone', () => {
  let folder = '';
  let file = '';
  const ignore = (): void => undefined;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-zone-'));
    file = join(folder, 'gateway.yaml');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const faultOf = async (zone: string): Promise<object | undefined> => {
    await writeFile(file, `listen: 127.0.0.1:0\ntime_zone: ${zone}\n`);
    const error: unknown = await load(file, {}, MODALITIES).catch((reason: unknown) => reason);
    const { faults } = error instanceof ConfigError ? error : (error as { faults: [] });
    return [...faults].find(({ code }) => code === 'unknown_time_zone');
  };

  const wrong = [
    ['Europe/Zurch', 'did you mean "Europe/Zurich"?'],
    ['Zurich', 'did you mean "Europe/Zurich"?'],
    ['Nowhere', 'write UTC, or the name of a zone such as Europe/Zurich'],
  ] as const;
  for (const [zone, hint] of wrong) {
    it(`${zone} is refused with its line and the right word`, async () => {
      expect(await faultOf(zone)).to.deep.include({
        line: 2,
        message: `time_zone: "${zone}" is no time zone`,
        hint,
      });
    });
  }

  it('of the file is that of commands, UTC where it is wrong or the file is no YAML', async () => {
    const zoneOf = async (text: string): Promise<string> => {
      await writeFile(file, text);
      return timeZoneOf(file, {}, ignore);
    };
    expect(await zoneOf('time_zone: Africa/Cairo\n')).to.equal('Africa/Cairo');
    expect(await zoneOf('time_zone: Cairo\n')).to.equal('UTC');
    expect(await zoneOf('listen: 127.0.0.1:0\n')).to.equal('UTC');
    const broken = 'store: sqlite:a.db\ntime_zone: Africa/Cairo\nmodels: [\n';
    expect(await zoneOf(broken)).to.equal('Africa/Cairo');
  });
});
