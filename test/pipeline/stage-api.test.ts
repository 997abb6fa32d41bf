import { expect } from 'chai';
import type { EndpointEntry } from '../../src/core/configuration.js';
import { ownStage } from '../../src/pipeline/plugins.js';
import type { Services } from '../../src/pipeline/services.js';
import type { Context, Fact, Facts, Need, Shape, Stage, State } from '../../src/pipeline/stage.js';
import type * as api from '../../src/pipeline/stage-api.js';

/**
 * Compiles only while the gateway gives a plugin all that `tollgate/stage` promises, and takes all
 * that it allows. Functions, not methods, so that parameters are compared strictly.
 */
const GIVEN = {
  context: (ctx: Context): api.Context => ctx,
  facts: (state: State & Facts): api.State<Fact> => state,
  services: (services: Services): api.Services => services,
  endpoint: (endpoint: EndpointEntry): api.Endpoint => endpoint,
};
const TAKEN = {
  shape: (shape: api.Shape): Shape => shape,
  fact: (fact: api.Fact): Fact => fact,
  needs: (need: api.Need): Need => need,
  allFacts: (fact: Fact): api.Fact => fact,
  stage: (stage: api.Stage<number>): Stage => stage,
  answer: (answer: api.Answer): NonNullable<Context['state']['answer']> => answer,
};

describe('the types of tollgate/stage', () => {
  it('are those of a stage inside the gateway', () => {
    expect(Object.keys({ ...GIVEN, ...TAKEN })).to.have.length(10);
    const own: api.Stage<number> = {
      name: 'own',
      shape: { needs: [], gives: [] },
      create: () => (_ctx, next) => next(),
    };
    expect(ownStage(TAKEN.stage(own))).to.include({ name: 'own' });
  });
});
