import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import {
  COST,
  errorOf,
  OBJECT,
  REFUSALS,
  startSdkGateway,
  TEXT,
  type SdkGateway,
} from './helpers/sdk-gateway.js';

const MASTRA = '1.71.0';
const INSTALL_MS = 300_000;

/** What these tests use of `@mastra/core`, which is no dependency: it weighs 130 MB. */
interface Mastra {
  Agent: new (settings: object) => {
    generate(prompt: string, options?: object): Promise<Generated>;
    stream(prompt: string, options?: object): Promise<Streamed>;
    __setLogger(logger: object): void;
  };
  createTool(settings: object): object;
  noopLogger: object;
}

interface Generated {
  text: string;
  object?: unknown;
  usage: { inputTokens?: number; outputTokens?: number };
}

interface Streamed {
  textStream: AsyncIterable<string>;
  usage: Promise<Generated['usage']>;
}

async function install(folder: string): Promise<Mastra> {
  const manifest = { private: true, dependencies: { '@mastra/core': MASTRA } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  await promisify(execFile)('npm', args, { cwd: folder, timeout: INSTALL_MS });
  const load = createRequire(join(folder, 'package.json'));
  const { Agent } = load('@mastra/core/agent') as Pick<Mastra, 'Agent'>;
  const { createTool } = load('@mastra/core/tools') as Pick<Mastra, 'createTool'>;
  const { noopLogger } = load('@mastra/core/logger') as Pick<Mastra, 'noopLogger'>;
  return { Agent, createTool, noopLogger };
}

describe('Mastra', function () {
  this.timeout(INSTALL_MS);
  let acme: SdkGateway;
  let mastra: Mastra;
  let folder: string;

  before(async () => {
    process.env.MASTRA_TELEMETRY_DISABLED = '1';
    folder = await mkdtemp(join(tmpdir(), 'tollgate-mastra-'));
    mastra = await install(folder);
    acme = await startSdkGateway();
  });
  after(async () => {
    await acme?.close();
    await rm(folder, { recursive: true, force: true });
  });

  function agent(model = 'acme-chat', more: object = {}, apiKey = acme.secret) {
    const made = new mastra.Agent({
      id: 'ada',
      name: 'Ada',
      instructions: 'Be brief.',
      model: { id: `tollgate/${model}`, url: `${acme.url}/v1`, apiKey },
      maxRetries: 0,
      ...more,
    });
    made.__setLogger(mastra.noopLogger);
    return made;
  }

  it('generates text and sees its usage', async () => {
    const costs = await acme.charged(async () => {
      const { text, usage } = await agent().generate('Hello!');
      expect(text).to.equal(TEXT);
      expect(usage).to.include({ inputTokens: 9, outputTokens: 5 });
    });
    expect(costs).to.deep.equal([COST.whole]);
  });

  it('streams text', async () => {
    const costs = await acme.charged(async () => {
      const { textStream, usage } = await agent().stream('Hello!');
      let text = '';
      for await (const part of textStream) text += part;
      expect(text).to.equal(TEXT);
      expect(await usage).to.include({ inputTokens: 9, outputTokens: 4 });
    });
    expect(costs).to.deep.equal([COST.streamed]);
  });

  it('runs tools', async () => {
    const cities: unknown[] = [];
    const weather = mastra.createTool({
      id: 'weather',
      description: 'The weather in a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: (place: object) => {
        cities.push(place);
        return Promise.resolve({ sky: 'Rain.' });
      },
    });
    const costs = await acme.charged(async () => {
      const { text } = await agent('acme-chat', { tools: { weather } }).generate('Oslo?');
      expect(text).to.equal(TEXT);
    });
    expect(cities).to.deep.equal([{ city: 'Oslo' }]);
    expect(costs).to.deep.equal([COST.tool, COST.whole]);
  });

  it('makes an object of a schema', async () => {
    const schema = z.object({ city: z.string(), rain: z.boolean() });
    const { object } = await agent().generate('Oslo?', { structuredOutput: { schema } });
    expect(object).to.deep.equal(OBJECT);
  });

  for (const { status, model, key, says } of REFUSALS) {
    it(`throws an error for ${status}, with our words`, async () => {
      const error = await errorOf(agent(model, {}, key(acme)).generate('Hello!'));
      expect(error).to.be.instanceOf(Error).with.property('statusCode', status);
      expect((error as Error).message).to.match(says);
    });
  }
});
