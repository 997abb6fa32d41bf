import { expect } from 'chai';
import { onEachStore } from './helpers/ground.js';
import { StoreError } from '../../src/store/store-error.js';

const UNSEEN = [
  'a\u0000b',
  'a\nb',
  'a\u007fb',
  'a\u0085b',
  'a\u00adb',
  'a\u200bb',
  'a\u200fb',
  'a\u202eb',
  'a\u2060b',
  'a\u2066b',
  'a\u2028b',
  'a\ufeffb',
  'a\ud800b',
  'a\u3164b',
  'a\u034fb',
  'a\u{e0041}b',
];

onEachStore('a name with an invisible character', (ground) => {
  it('is refused, of an account and of a key', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('alice', 0n);
    for (const name of UNSEEN) {
      for (const making of [store.createAccount(name, 0n), store.createKey(id, name)]) {
        const error: unknown = await making.catch((reason: unknown) => reason);
        expect(error, JSON.stringify(name)).to.be.instanceOf(StoreError);
        expect(String(error)).to.include('cannot hold');
      }
    }
  });

  it('is not one in another script, or with an emoji', async () => {
    const store = await ground.open();
    for (const name of ['Zoë', '李雷', 'Αθηνά', 'שרה', 'I ❤️ 🚀', 'नमस्ते']) {
      const { id } = await store.createAccount(name, 0n);
      expect((await store.createKey(id, name)).key.name).to.equal(name);
    }
  });
});
