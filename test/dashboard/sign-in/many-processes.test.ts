import { expect } from 'chai';
import { pino } from 'pino';
import { Gateway, checkOrThrow } from '../../../src/gateway/gateway.js';
import { onEachStore } from '../../store/helpers/ground.js';
import { startSignInGateway, type SignInGateway } from './helpers/sign-in-gateway.js';

const START = '/sign-in/acme';

onEachStore('sign-ins at two gateways with one store', (place) => {
  /** Closed within the test: the store is gone once it is over. */
  const withTwo = (test: (ground: SignInGateway, urls: string[]) => Promise<void>) => async () => {
    const ground = await startSignInGateway({ store: place.place.url });
    const options = { log: pino({ level: 'silent' }), now: Date.now, random: Math.random };
    const other = await Gateway.open(await checkOrThrow(ground.gateway.file, {}), options);
    const { port } = await other.listen();
    try {
      await test(ground, [ground.gateway.url, `http://127.0.0.1:${port}`]);
    } finally {
      await other.stop();
      await ground.close();
    }
  };

  it(
    'may begin at one, end at the other, and be known to both',
    withTwo(async (ground, urls) => {
      const person = ground.person();
      const callback = await person.callback(START, 'ada');
      person.url = urls[1] ?? '';
      expect((await person.get(callback)).status).to.equal(303);
      for (const url of urls) {
        person.url = url;
        expect((await person.get('/api/account')).status).to.equal(200);
      }
      await person.send('/sign-out');
      const { status } = await person.get('/api/account');
      expect(status).to.equal(401);
    }),
  );

  it(
    'make one account of one newcomer who comes to both at once',
    withTwo(async (ground, urls) => {
      const people = await Promise.all(
        [...urls, ...urls].map(async (url) => {
          const person = ground.person();
          const callback = await person.callback(START, 'grace');
          person.url = url;
          return { person, callback };
        }),
      );
      const answers = await Promise.all(people.map(({ person, callback }) => person.get(callback)));
      expect(answers.map(({ status }) => status)).to.deep.equal([303, 303, 303, 303]);
      const { store } = ground.gateway.gateway;
      const account = await store.account('grace@example.org');
      expect(account?.balance_nano).to.equal(1_000_000_000n);
      expect((await store.verify()).faults).to.deep.equal([]);
    }),
  );

  it(
    'let a link and a callback in once, wherever they are brought',
    withTwo(async (ground, urls) => {
      const { gateway, account } = ground.gateway;
      const options = { operator: false, lifetime_ms: 600_000 };
      const { secret } = await gateway.store.sign_in.createLink(account.id, options);
      const first = ground.person();
      const callback = await first.callback(START, 'ada');
      for (const address of [`/sign-in/link?token=${secret}`, callback]) {
        const statuses = await Promise.all(
          [...urls, ...urls].map(async (url) => {
            const person = ground.person();
            person.put('sign_in', first.cookie('sign_in') ?? '', '/sign-in');
            person.url = url;
            return (await person.get(address)).status;
          }),
        );
        expect(statuses).to.have.members([303, 400, 400, 400]);
      }
    }),
  );
});
