import { oneAction } from './action.js';

export const resumeProvider = oneAction({
  name: 'provider resume',
  fields: {
    provider: { typed: '<provider>', about: 'its name in gateway.yaml', type: 'text' },
  },
  async run({ store }, { provider }: { provider: string }, { actor }) {
    const resumed = await store.rests.resume(provider, actor);
    return { provider, models: resumed.map(({ model }) => model) };
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
  answer: (resumed) => resumed,
  command: {
    about: 'call the upstreams of a provider again that are left alone since they failed',
    example: 'tollgate provider resume openai',
    document: (resumed) => resumed,
    lines: ({ provider, models }) => [
      models.length === 0
        ? `No upstream of ${provider} is left alone.`
        : `Resumed ${provider}: ${models.join(', ')} is called again within a second.`,
    ],
  },
});
