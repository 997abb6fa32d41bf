import { expect } from 'chai';
import { picture } from '../../src/stages/hosted-image.js';
import type { EndpointEntry } from '../../src/core/configuration.js';
import { OptionError } from '../../src/core/option-error.js';

const place = { file: 'gateway.yaml', line: 1, column: 1 };

function shapeAt(path: string, option?: unknown): unknown {
  const endpoint: EndpointEntry = { name: 'pictures', method: 'GET', path, stages: [], place };
  return typeof picture.shape === 'function' ? picture.shape(option, endpoint) : picture.shape;
}

describe('the stage picture', () => {
  it('asks for nothing, not even a key', () => {
    expect(shapeAt('/images/{id}')).to.deep.equal({ needs: [], gives: ['reply:content'] });
  });

  for (const path of ['/images', '/images/{name}', '/images/{id}/{index}', '/{model}/{id}']) {
    it(`is not to be had at ${path}`, () => {
      expect(() => shapeAt(path)).to.throw(OptionError, '{id}');
    });
  }

  it('takes no option', () => {
    expect(() => shapeAt('/images/{id}', 'once')).to.throw(OptionError, 'no option');
  });
});
