import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { ask } from '../helpers/ask.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { parseScrape, type Sample, type Scrape } from '../helpers/prometheus.js';
import { readQuery } from '../helpers/promql.js';
import { chatJson, chatSse, play, startUpstream, type FakeUpstream } from '../helpers/upstream.js';

interface Dashboard {
  templating: { list: { type: string; query: string }[] };
  panels: { type: string; title: string; targets?: { expr: string }[] }[];
}

interface Rules {
  groups: { name: string; rules: Rule[] }[];
}

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: Record<string, string>;
  annotations: { summary: string };
}

const deployed = (name: string): Promise<string> =>
  readFile(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');

const PRICE = '{ input_per_million: 1000, output_per_million: 2000 }';

describe('the files for monitoring', () => {
  let upstreams: FakeUpstream[];
  let gateway: TestGateway;
  let found: Scrape;
  let queries: string[];
  let dashboard: Dashboard;
  let rules: Rules;

  before(async () => {
    const huge = { prompt_tokens: 20_000, completion_tokens: 5, total_tokens: 20_005 };
    const good = await startUpstream(async ({ json }, response) => {
      const streamed = (json as { stream?: boolean }).stream === true;
      await play(streamed ? chatSse(['a']) : chatJson('hello', { usage: huge }), response);
    });
    const bad = await startUpstream({ status: 500, body: '{}' });
    upstreams = [good, bad];
    gateway = await startGateway(`metrics: 127.0.0.1:0
owners: { acme: { name: Acme } }
providers:
  good: { uses: openai, base_url: '${good.url}', api_key: sk-up }
  bad: { uses: openai, base_url: '${bad.url}', api_key: sk-up }
models:
  one: { owner: acme, capabilities: [chat], upstreams: [{ provider: good }], price: ${PRICE} }
  two: { owner: acme, capabilities: [chat], upstreams: [{ provider: bad }], price: free }
`);
    for (const [model, stream] of [
      ['one', true],
      ['two', false],
      ['one', false],
    ] as const) {
      const messages = [{ role: 'user', content: 'Hi' }];
      const body = JSON.stringify({ model, stream, messages, max_tokens: 20 });
      const headers = { 'content-type': 'application/json' };
      await ask(gateway, '/v1/chat/completions', { method: 'POST', headers, body });
    }
    found = parseScrape((await gateway.gateway.views.metrics?.text()) ?? '');
    dashboard = JSON.parse(await deployed('grafana-dashboard.json')) as Dashboard;
    rules = parse(await deployed('prometheus-alerts.yaml')) as Rules;
    queries = [
      ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
      ...rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
    ].map(filledIn);
  });
  after(async () => {
    await gateway.close();
    await Promise.all(upstreams.map((one) => one.close()));
  });

  /** Puts in what Grafana does. */
  const filledIn = (query: string): string =>
    query.replaceAll('$__rate_interval', '5m').replaceAll('$model', '.*');

  const isMatch = (sample: Sample, { label, op, value }: Matcher): boolean => {
    const own = sample.labels[label] ?? '';
    const isEqual = op.endsWith('~') ? new RegExp(`^(?:${value})$`, 'u').test(own) : own === value;
    return op.startsWith('!') ? !isEqual : isEqual;
  };

  it('ask only for what a real scrape has', () => {
    expect(queries.length).to.be.greaterThan(30);
    for (const query of queries) {
      const { selectors } = readQuery(query);
      expect(selectors, query).not.to.have.length(0);
      for (const { metric, matchers } of selectors) {
        const samples = found.samples.filter(({ name }) => name === metric);
        expect(samples, `${metric} of ${query}`).not.to.have.length(0);
        for (const { label } of matchers) {
          const isThere = samples.some(({ labels }) => label in labels);
          expect(isThere, `${label} of ${query}`).to.equal(true);
        }
        const some = samples.filter((one) => matchers.every((matcher) => isMatch(one, matcher)));
        expect(some, `${JSON.stringify(matchers)} of ${query}`).not.to.have.length(0);
      }
    }
  });

  it('group only by labels that those metrics have', () => {
    for (const query of queries) {
      const { selectors, grouped } = readQuery(query);
      const labels = found.samples
        .filter(({ name }) => selectors.some(({ metric }) => metric === name))
        .flatMap((sample) => Object.keys(sample.labels));
      for (const label of grouped) expect(labels, query).to.include(label);
    }
  });

  it('take rates of counters alone', () => {
    const typeOf = (metric: string): string | undefined =>
      found.types.get(metric) ?? found.types.get(metric.replace(/_(bucket|sum|count)$/u, ''));
    let rated = 0;
    for (const query of queries) {
      for (const [, metric = ''] of query.matchAll(/\b(?:rate|increase)\((\w+)/gu)) {
        expect(typeOf(metric), query).to.be.oneOf(['counter', 'histogram']);
        rated += 1;
      }
    }
    expect(rated).to.be.greaterThan(15);
  });

  it('fill the menus of the dashboard', () => {
    const menus = dashboard.templating.list.filter(({ type }) => type === 'query');
    expect(menus).not.to.have.length(0);
    for (const { query } of menus) {
      const [, metric, label = ''] = /^label_values\((\w+), (\w+)\)$/u.exec(query) ?? [];
      const samples = found.samples.filter(({ name }) => name === metric);
      expect(samples.map(({ labels }) => labels[label])).to.include('one');
    }
  });

  it('say of each alert what is wrong and how grave it is', () => {
    const all = rules.groups.flatMap((group) => group.rules);
    expect(new Set(all.map(({ alert }) => alert)).size).to.equal(all.length);
    for (const { alert, expr, labels, annotations, for: wait = '0s' } of all) {
      expect(labels.severity, alert).to.be.oneOf(['warning', 'critical']);
      expect(annotations.summary, alert).to.match(/^.{15,120}[.]$/u);
      expect(wait, alert).to.match(/^\d+[sm]$/u);
      const grouped = readQuery(expr).grouped;
      for (const [, label] of annotations.summary.matchAll(/\$labels\.(\w+)/gu)) {
        expect(grouped, alert).to.include(label);
      }
    }
  });
});

type Matcher = ReturnType<typeof readQuery>['selectors'][number]['matchers'][number];
