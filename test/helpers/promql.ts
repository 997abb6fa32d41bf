import { parser } from '@prometheus-io/lezer-promql';

/** A selection of a query: `NAME{label="value"}`. */
export interface Selector {
  metric: string;
  matchers: { label: string; op: string; value: string }[];
}

/** What a query names. Throws where it is no PromQL. */
export function readQuery(query: string): { selectors: Selector[]; grouped: string[] } {
  const selectors: Selector[] = [];
  const grouped: string[] = [];
  let isGrouping = false;
  parser.parse(query).iterate({
    enter: ({ type, name, from, to, node }) => {
      const text = query.slice(from, to);
      if (type.isError) throw new Error(`No PromQL at ${from}: ${query}`);
      if (name === 'GroupingLabels') isGrouping = true;
      if (name === 'LabelName' && isGrouping) grouped.push(text);
      if (name === 'VectorSelector') {
        const identifier = node.getChild('Identifier');
        const metric = identifier ? query.slice(identifier.from, identifier.to) : '';
        selectors.push({ metric, matchers: [] });
      }
      if (name === 'UnquotedLabelMatcher') {
        const [, label = '', op = '', value = ''] = /^(\w+)\s*([=!~]+)\s*"(.*)"$/u.exec(text) ?? [];
        selectors.at(-1)?.matchers.push({ label, op, value });
      }
    },
    leave: ({ name }) => {
      if (name === 'GroupingLabels') isGrouping = false;
    },
  });
  return { selectors, grouped };
}
