import type { ForeignHint } from './foreign-hint.js';

/** The hint for a key of a manifest in an entry of gateway.yaml. */
export const OF_MANIFEST =
  'manifests have it: write uses: openai-compatible, or uses: ./NAME.yaml with this key there';
const IN_ENTRY = 'the entry in gateway.yaml has it, as api_key: remove this';
const PREFIX = `use prefix instead, the text before the key, such as prefix: 'Bearer '`;

/** Hints for the keys of other programs in a manifest, by the title of the block. */
export const IN_MANIFESTS: Readonly<Record<string, Readonly<Record<string, ForeignHint>>>> = {
  ProviderManifest: {
    api_key: 'the entry in gateway.yaml has it: remove this',
    api_base: 'write base_url: VALUE',
    url: 'write base_url: VALUE',
    endpoint: 'write base_url: VALUE',
    endpoints: 'write operations: { chat: { path: /chat/completions, codec: openai } }',
    routes: 'write operations: { chat: { path: /chat/completions, codec: openai } }',
    models: 'gateway.yaml has the models: models: { ID: { upstreams: [{ provider: NAME }] } }',
    uses: 'an entry in gateway.yaml has it: remove this',
    timeouts: { block: 'write timeout: VALUE' },
    type: 'an operation has a codec: operations: { chat: { path: PATH, codec: openai } }',
  },
  AuthBlock: {
    value: PREFIX,
    scheme: PREFIX,
    type: 'write auth: bearer, or auth: { header: NAME }',
    token: IN_ENTRY,
    api_key: IN_ENTRY,
    name: 'write header: VALUE',
  },
};
