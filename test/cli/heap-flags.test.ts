import { expect } from 'chai';
import {
  growInLargeSteps,
  type Restartable,
  restartWithHeapFlags,
} from '../../src/cli/heap-flags.js';

/** How a process of a new Node would start itself again; undefined if it goes on as it is. */
function restartOf(changed: Partial<Restartable>): readonly string[] | undefined {
  let args: readonly string[] | undefined;
  restartWithHeapFlags({
    argv: ['/usr/bin/node', '/app/main.js', 'serve', '--workers', '2'],
    channel: undefined,
    env: {},
    execArgv: ['--enable-source-maps'],
    execPath: '/usr/bin/node',
    platform: 'linux',
    execve(file, given) {
      args = [file, ...given];
      return undefined as never;
    },
    ...changed,
  } as Restartable);
  return args;
}

describe('restartWithHeapFlags', () => {
  it('starts the same command again, with a flag that bounds the heap', () => {
    expect(restartOf({})).to.deep.equal([
      '/usr/bin/node',
      '/usr/bin/node',
      '--enable-source-maps',
      '--max-semi-space-size=16',
      '/app/main.js',
      'serve',
      '--workers',
      '2',
    ]);
  });

  it('does not start twice, and leaves a size that the operator has chosen', () => {
    expect(restartOf({ execArgv: ['--max-semi-space-size=16'] })).to.equal(undefined);
    expect(restartOf({ env: { NODE_OPTIONS: '--max_semi_space_size=64' } })).to.equal(undefined);
  });

  it('goes on where Node cannot do it, or a parent process would lose its channel', () => {
    expect(restartOf({ execve: undefined })).to.equal(undefined);
    expect(restartOf({ platform: 'win32' })).to.equal(undefined);
    const channel = { ref: () => undefined, unref: () => undefined };
    expect(restartOf({ channel } as Partial<Restartable>)).to.equal(undefined);
  });
});

describe('growInLargeSteps', () => {
  function flagsWith(...execArgv: string[]): string[] {
    const set: string[] = [];
    growInLargeSteps({ execArgv, env: {} }, (flag) => set.push(flag));
    return set;
  }

  it('lets the heap double between two collections, as V8 makes it small while idle', () => {
    expect(flagsWith()).to.deep.equal(['--heap-growing-percent=100']);
  });

  it('leaves a growth that the operator has chosen', () => {
    expect(flagsWith('--heap_growing_percent=40')).to.deep.equal([]);
  });
});
