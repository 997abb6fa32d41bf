import { oneAction } from './action.js';

export const resumeProvider = oneAction({
  name: 'provider resume',
  fields: {
    provider: { typed: '<provider>', about: 'its name in gateway.yaml', type: 'text' },
  },
  async run({ store }, { provider }: { provider: string }, { actor }) {
    const resumed = await store.rests.resume(provider, actor);
    const others = resumed.length > 0 ? [] : (await store.rests.list()).map((one) => one.provider);
    return { provider, models: resumed.map(({ model }) => model), others: [...new Set(others)] };
  },
  routes: [
    {
      method: 'POST',
      path: '/api/providers/:provider/resume',
      scope: 'gateway:write',
      id: 'resumeProvider',
      summary: 'Forget the failures of a provider, so that its upstreams are called again',
      status: 200,
      answer: 'ResumedProvider',
    },
  ],
  answer: ({ provider, models }) => ({ provider, models }),
  command: {
    about: 'call the upstreams of a provider again that are left alone since they failed',
    example: 'tollgate provider resume openai',
    document: ({ provider, models }) => ({ provider, models }),
    lines: ({ provider, models, others }) => [
      models.length > 0
        ? `Resumed ${provider}: ${models.join(', ')} is called again within a second.`
        : noneOf(provider, others),
    ],
  },
});

/** Names the providers of which upstreams are left alone, for one whose name was mistyped. */
function noneOf(provider: string, others: readonly string[]): string {
  const none = `No upstream of ${provider} is left alone`;
  return others.length === 0 ? `${none}.` : `${none}; those of ${others.join(', ')} are.`;
}
