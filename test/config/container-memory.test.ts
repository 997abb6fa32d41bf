import { expect } from 'chai';
import { memoryOfRequests } from '../../src/config/container-memory.js';

const MB = 1024 ** 2;

describe('the memory of requests by default', () => {
  for (const [container, container_bytes, expected_mb] of [
    ['no container', undefined, 256],
    ['a container without a limit', 0, 256],
    ['a container that has the memory of a machine', 64 * 1024 * MB, 256],
    ['a container of 512 MB', 512 * MB, 181],
    ['a container that is too small', 100 * MB, 32],
  ] as const) {
    it(`is ${expected_mb} MB in ${container}`, () => {
      expect(memoryOfRequests(container_bytes)).to.equal(expected_mb * MB);
    });
  }
});
