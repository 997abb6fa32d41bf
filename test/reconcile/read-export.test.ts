import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { ExportLine } from '../../src/core/provider-export.js';
import { exportFormats, namedFormat } from '../../src/reconcile/export-formats.js';
import { readExport } from '../../src/reconcile/read-export.js';

const DAY = '2026-10-14';
const NANO = 1_000_000_000n;

describe('an export of a provider', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-export-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  async function read(
    data: string | Buffer,
    columns?: string,
  ): Promise<{ formats: string[]; lines: ExportLine[] }> {
    const file = join(folder, 'bill');
    writeFileSync(file, data);
    const terms = {
      formats: await exportFormats(),
      ...(columns !== undefined && { named: namedFormat(columns) }),
    };
    const formats = new Set<string>();
    const lines: ExportLine[] = [];
    for await (const { format, line } of readExport(file, terms)) {
      if (format) formats.add(format.name);
      lines.push(line);
    }
    return { formats: [...formats], lines };
  }

  /** What reading it fails with, without the folder. */
  async function faultOf(data: string | Buffer, columns?: string): Promise<string> {
    try {
      await read(data, columns);
    } catch (error) {
      return error instanceof Error ? error.message.replace(`${folder}/`, '') : String(error);
    }
    return '';
  }

  it('of audio and of text has each class once, between days without usage', async () => {
    const result = {
      input_tokens: 100,
      input_text_tokens: 70,
      input_cached_tokens: 20,
      input_audio_tokens: 30,
      output_tokens: 50,
      output_audio_tokens: 10,
      num_model_requests: 2,
      model: 'gpt-audio',
    };
    const bucket = { start_time: Date.parse(DAY) / 1_000, end_time: 0, results: [result] };
    const empty = { start_time: Date.parse('2026-10-15') / 1_000, end_time: 0, results: [] };
    const early = { start_time: Date.parse('2026-10-13') / 1_000, end_time: 0, results: [] };
    const page = { object: 'page', data: [early, bucket, empty], has_more: false };
    const { formats, lines } = await read(JSON.stringify(page, null, 2));
    expect(formats).to.deep.equal(['openai-usage']);
    const tokens = { input: 50, cached_input: 20, audio_input: 30, output: 40, audio_output: 10 };
    expect(lines).to.deep.equal([
      { day: '2026-10-13' },
      { day: DAY, model: 'gpt-audio', calls: 2, tokens },
      { day: '2026-10-15' },
    ]);
  });

  it('of costs has the model and the class of its line items, and the others as they are', async () => {
    const rows = [
      'priority | gpt-5.4-2026-03-05, cached input',
      'gpt-5.4-2026-03-05, output, long context',
      'gpt-audio-2026-01-01 audio, input',
      'gpt-image-1.5-2025-12-16 image, output',
      'gpt-image-1.5-2025-12-16 image, input',
      'gpt-image-1.5-2025-12-16 image, cached input',
      'gpt-image-1.5-2025-12-16 text, input',
      'web search tool calls',
    ].map((item) => `1791936000,1792022400,0.1234567891,usd,"${item}",`);
    const head = 'start_time,end_time,amount_value,amount_currency,line_item,project_id';
    const { formats, lines } = await read(`\uFEFF${[head, ...rows].join('\r\n')}\r\n`);
    expect(formats).to.deep.equal(['openai-costs']);
    expect(lines.map(({ model, class: of }) => [model, of])).to.deep.equal([
      ['gpt-5.4-2026-03-05', 'cached_input'],
      ['gpt-5.4-2026-03-05', 'output'],
      ['gpt-audio-2026-01-01', 'audio_input'],
      ['gpt-image-1.5-2025-12-16', 'image_output'],
      ['gpt-image-1.5-2025-12-16', 'image_input'],
      ['gpt-image-1.5-2025-12-16', 'cached_input'],
      ['gpt-image-1.5-2025-12-16', 'input'],
      ['web search tool calls', undefined],
    ]);
    expect(lines[0]).to.include({ day: DAY, cost_nano: 123_456_789n });
  });

  it('of a console has tokens and dollars, where the API has cents', async () => {
    const usage =
      'usage_date_utc,model_version,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,' +
      'usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens\n' +
      `${DAY},claude-x,1,2,3,4,5\n`;
    expect((await read(usage)).lines).to.deep.equal([
      {
        day: DAY,
        model: 'claude-x',
        tokens: { input: 1, cache_write: 2, cache_write_1h: 3, cached_input: 4, output: 5 },
      },
    ]);
    const costs = `usage_date_utc,model,token_type,cost_usd\n${DAY},claude-x,input_cache_write_1h,1.5\n`;
    expect((await read(costs)).lines).to.deep.equal([
      { day: DAY, model: 'claude-x', cost_nano: (NANO * 3n) / 2n, class: 'cache_write_1h' },
    ]);
    const result = {
      currency: 'USD',
      amount: '150.5',
      model: null,
      description: 'Web Search Usage',
    };
    const bucket = { starting_at: `${DAY}T00:00:00Z`, ending_at: '', results: [result] };
    expect((await read(JSON.stringify({ data: [bucket] }))).lines).to.deep.equal([
      { day: DAY, model: 'Web Search Usage', cost_nano: 1_505_000_000n },
    ]);
  });

  it('in another currency is converted at the rate that it names, else refused', async () => {
    const head = 'sku.description,usage_start_time,cost,currency,currency_conversion_rate';
    const row = `Gemini 2.5 Pro Text Input,${DAY} 23:30:00-02:00,1.8,EUR`;
    expect((await read(`${head}\n${row},0.9`)).lines).to.deep.equal([
      {
        day: '2026-10-15',
        model: 'Gemini 2.5 Pro Text Input',
        cost_nano: 2n * NANO,
        class: 'input',
      },
    ]);
    expect(await faultOf(`${head}\n${row},`)).to.equal(
      'bill:2:57: "EUR" in the column currency is not USD, ' +
        'and the row has no currency_conversion_rate',
    );
  });

  it('of Azure has the model and the class in the names of its meters', async () => {
    const rows = [
      'gpt-4o-mini-0718-Inp-glbl Tokens',
      'gpt 4.1 cached Inp glbl Tokens',
      'GPT 5 Mini outpt Glbl 1M Tokens',
      'gpt-4o-aud-1217 Inp glbl Tokens',
      'gpt-4o-transcribe-aud-inp-glbl Tokens',
      'gpt-4o-mini-tts-aud-out-glbl Tokens',
      'Image Generation Standard',
    ].map((meter) => `10/14/2026,Azure OpenAI,${meter},1K,5,0.25,USD,Usage`);
    const head =
      'Date,MeterSubCategory,MeterName,UnitOfMeasure,Quantity,CostInBillingCurrency,' +
      'BillingCurrencyCode,ChargeType,MeterCategory,ProductName';
    const others = [
      '10/14/2026,,gpt-4o-0806-Inp-glbl Tokens,1K,5,9,USD,Purchase,Foundry Models,',
      '10/14/2026,,Standard HDD,1,5,9,USD,Usage,Storage,',
    ];
    const text = [head, ...rows.map((row) => `${row},Cognitive Services,`), ...others].join('\r\n');
    const { formats, lines } = await read(text);
    expect(formats).to.deep.equal(['azure-costs']);
    expect(lines.map(({ model, class: of }) => [model, of])).to.deep.equal([
      ['gpt-4o-mini-0718', 'input'],
      ['gpt-4.1', 'cached_input'],
      ['gpt-5-mini', 'output'],
      ['gpt-4o-aud-1217', 'audio_input'],
      ['gpt-4o-transcribe', 'audio_input'],
      ['gpt-4o-mini-tts', 'audio_output'],
      ['image-generation-standard', undefined],
    ]);
    expect(lines[0]).to.deep.include({ day: DAY, cost_nano: NANO / 4n });
    expect(lines[0]).not.to.have.property('tokens');
  });

  it('of Azure in another currency has the cost in dollars beside it, else is refused', async () => {
    const head = 'date,meterCategory,meterName,costInBillingCurrency,billingCurrency';
    const row = `${DAY},Azure OpenAI,gpt 4o 1120 Outp glbl Tokens,1.8,EUR`;
    expect((await read(`${head},costInUsd\n${row},2\n`)).lines).to.deep.equal([
      { day: DAY, model: 'gpt-4o-1120', cost_nano: 2n * NANO, class: 'output' },
    ]);
    expect(await faultOf(`${head}\n${row}\n`)).to.include(
      '"EUR" in the column billing_currency is not USD, and the row has no cost_in_usd',
    );
    expect(await faultOf(`${head}\n${row.replace(DAY, '13/40/2026')}\n`)).to.include(
      '"13/40/2026" in the column date is no date, such as 10/31/2026',
    );
  });

  it('of a marketplace counts millions, and names the model by its product', async () => {
    const head =
      'line_item_line_item_type,line_item_usage_start_date,line_item_product_code,' +
      'line_item_usage_type,line_item_usage_amount,line_item_unblended_cost,' +
      'product_product_name,pricing_unit';
    const row = (type: string, amount: string): string =>
      `Usage,${DAY}T00:00:00Z,abc,${type},${amount},3.3,Claude Sonnet 4.5 (Amazon Bedrock Edition),Units`;
    const types = [
      'USE1-MP:USE1_CacheReadInputTokenCount-Units',
      'USE1_output_tokens_standard-Units',
    ];
    const { lines } = await read(
      gzipSync(`${head}\n${types.map((type) => row(type, '1.234567')).join('\n')}\n`),
    );
    expect(lines.map(({ model, tokens }) => [model, tokens])).to.deep.equal([
      ['Claude Sonnet 4.5', { cached_input: 1_234_567 }],
      ['Claude Sonnet 4.5', { output: 1_234_567 }],
    ]);
  });

  it('of days has what the API of activity answers', async () => {
    const row = {
      date: `${DAY} 00:00:00`,
      model: 'meta/llama',
      model_permaslug: 'meta/llama-20260101',
      usage: 0.5,
      requests: 3,
      prompt_tokens: 7,
      completion_tokens: 2,
    };
    expect((await read(JSON.stringify({ data: [row] }))).lines).to.deep.equal([
      {
        day: DAY,
        model: 'meta/llama-20260101',
        calls: 3,
        tokens: { input: 7, output: 2 },
        cost_nano: NANO / 2n,
      },
    ]);
  });

  it('of an unknown form is read by the names of its columns', async () => {
    const text =
      'Date,Model Name,Prompt,Cached,Seen,Answer,Drawn,USD\n' + `${DAY},m,100,40,10,5,9,$0.25\n`;
    const columns =
      'day=Date,model=Model Name,prompt=Prompt,cached_input=Cached,image_input=Seen,' +
      'output=Answer,image_output=Drawn,cost=USD';
    expect((await read(text, columns)).lines).to.deep.equal([
      {
        day: DAY,
        model: 'm',
        tokens: { input: 50, cached_input: 40, image_input: 10, output: 5, image_output: 9 },
        cost_nano: NANO / 4n,
      },
    ]);
    expect(await faultOf(text, 'day=Date,cost=Dollars')).to.equal(
      'bill:1:1: there is no column dollars; it has date, model_name, prompt, ' +
        'cached, seen, answer, drawn, usd',
    );
    expect(() => namedFormat('day=Date,costs=USD')).to.throw(
      RangeError,
      '"costs=USD" is not NAME=',
    );
    expect(() => namedFormat('day=Date')).to.throw(RangeError, 'need a day, and tokens');
  });

  const HEAD = 'Date,Note,Tokens,USD';
  const COLUMNS = 'day=Date,input=Tokens,cost=USD';

  it('has the file, the line and the column of a cell that is wrong', async () => {
    const rows = `${HEAD}\r\n${DAY},"two\nlines, ""quoted""",7,1\r\n${DAY},"a\nb",x,1\r\n`;
    expect(await faultOf(rows, COLUMNS)).to.equal(
      'bill:5:4: "x" in the column tokens is no whole number',
    );
    expect(await faultOf(`${HEAD}\n14.10.2026,,1,1`, COLUMNS)).to.equal(
      'bill:2:1: "14.10.2026" in the column date is no date, such as 2026-10-31',
    );
    expect(await faultOf(`${HEAD}\n${DAY},,1,"1,25"`, COLUMNS)).to.equal(
      'bill:2:15: "1,25" in the column usd is no decimal number',
    );
    const rest = JSON.stringify({ Date: DAY, USD: 1, Tokens: 1 });
    const line = '{ "Date": "2026-10-14", "USD": 1, "Tokens": -5 }';
    expect(await faultOf(`${rest}\n${line}\n`, COLUMNS)).to.equal(
      'bill:2:45: "-5" in the column tokens is no whole number',
    );
    const document = `[\n  ${rest},\n  ${line}\n]`;
    expect(await faultOf(document, COLUMNS)).to.equal(
      'bill:3:47: "-5" in the column tokens is no whole number',
    );
  });

  it('has the place where it is no CSV or no JSON', async () => {
    expect(await faultOf(`${HEAD}\n${DAY},,1\n`, COLUMNS)).to.match(/^bill:2:1: Invalid Record/u);
    expect(await faultOf('{"data": [\n  {"a": 1},\n  {"a" 2}\n]}')).to.match(
      /^bill:3:\d+: this is no JSON$/u,
    );
    expect(await faultOf('{"a": 1}\nnonsense\n', 'day=a,cost=a')).to.include('bill:1:');
    expect(await faultOf('[1]')).to.equal('bill:1:2: this is neither object nor list');
  });

  it('that cannot be read says why', async () => {
    expect(await faultOf('a,b\n1,2\n')).to.equal(
      'bill:1:1: this is no export that is known, by its columns: name them with --columns. ' +
        'It has a, b',
    );
    expect(await faultOf('PK\u0003\u0004')).to.equal(
      'bill: this is a ZIP archive: unpack it first',
    );
    expect(await faultOf('PAR1')).to.equal(
      'bill: this is Parquet: export it as CSV, or convert it',
    );
    expect(await faultOf(gzipSync('x'.repeat(99)).subarray(0, 20))).to.equal(
      'bill: the gzip file is damaged or not whole',
    );
    expect((await read('')).lines).to.deep.equal([]);
    rmSync(join(folder, 'bill'));
    const terms = { formats: await exportFormats() };
    const missing = await readExport(join(folder, 'bill'), terms).next().catch(String);
    expect(missing).to.equal(`ExportFault: ${folder}/bill: there is no such file`);
  });
});
