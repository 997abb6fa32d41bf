import { expect } from 'chai';
import { GatewayError } from '../../src/core/errors.js';
import { publicErrorOf } from '../../src/pipeline/public-error.js';
import { StoreUnreachable } from '../../src/store/store-error.js';

describe('an error that a client may see', () => {
  it('is an overload where the store cannot be reached, also in mid-stream', () => {
    expect(publicErrorOf(new StoreUnreachable(new Error('ECONNREFUSED'))).code).to.equal(
      'overloaded',
    );
  });

  it('is what the gateway says, and of any other error nothing', () => {
    const own = new GatewayError('not_found', 'There is nothing.');
    expect(publicErrorOf(own)).to.equal(own);
    const { code, message } = publicErrorOf(new Error('secret'));
    expect(code).to.equal('internal_error');
    expect(message).not.to.include('secret');
  });
});
