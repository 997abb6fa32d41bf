import { expect } from 'chai';
import { hostedImage } from '../../src/stages/hosted-image.js';
import type { EndpointEntry } from '../../src/core/configuration.js';
import { OptionError } from '../../src/core/errors.js';

const place = { file: 'gateway.yaml', line: 1, column: 1 };

function shapeAt(path: string, option?: unknown): unknown {
  const endpoint: EndpointEntry = {
    name: 'hosted-images',
    method: 'GET',
    path,
    stages: [],
    place,
    main: 'gateway.yaml',
  };
  return typeof hostedImage.shape === 'function'
    ? hostedImage.shape(option, endpoint)
    : hostedImage.shape;
}

describe('the stage hosted-image', () => {
  it('asks for nothing, not even a key', () => {
    expect(shapeAt('/images/{id}')).to.deep.equal({
      needs: [],
      gives: ['answer:content'],
      answers: 'hosted-image',
    });
  });

  for (const path of ['/images', '/images/{name}', '/images/{id}/{index}', '/{model}/{id}']) {
    it(`is not to be had at ${path}`, () => {
      expect(() => shapeAt(path)).to.throw(OptionError, '{id}');
    });
  }

  it('is refused with an option', () => {
    expect(() => shapeAt('/images/{id}', 'once')).to.throw(OptionError, 'no option');
  });
});
