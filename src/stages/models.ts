import { OptionError } from '../core/errors.js';
import { namedModels } from '../core/configuration.js';
import { mayUseModel, type Model } from '../core/model.js';
import { clientFormatReader, formatOf, formatsOf, type Modalities } from '../pipeline/modality.js';
import { contractModels, type ModelListFormat } from '../pipeline/model-list-format.js';
import {
  fact,
  formatOption,
  paramsOf,
  type PathParams,
  type Shape,
  type Stage,
} from '../pipeline/stage.js';

/** Answers with the list of models (specification 4.7). */
export function models(modalities: Modalities): Stage {
  return modelStage('models', modalities, (words, seen) =>
    words.list(words.has_as_names ? seen : seen.filter((one) => !one.is_as_name)),
  );
}

/**
 * Makes a stage that answers with models, as the format that its option names lists them; without
 * an option, as the client's format does. A key that is limited to some models sees only those.
 */
export function modelStage(
  name: string,
  modalities: Modalities,
  answerOf: (words: ModelListFormat, seen: readonly Model[], params: PathParams) => object,
): Stage {
  const formats = formatsOf(modalities);
  const names = formats.flatMap((format) => (format.models ? [format.name] : []));
  return {
    name,
    shape: (option) => {
      const shape: Shape = { needs: ['caller'], gives: ['answer'], answers: name };
      if (option === undefined || option === null) return { ...shape, all_formats: true };
      const format = names.find((known) => known === option);
      if (format !== undefined) return { ...shape, format };
      throw new OptionError(`no clients of ${formatOption(option)} list models`, names);
    },
    create: (_option, { configuration }, endpoint) => {
      const own = formatOf(modalities, endpoint);
      const clientFormat = clientFormatReader(modalities, endpoint);
      const all = namedModels(configuration);
      return async (ctx, next) => {
        const words = (own ?? clientFormat?.(ctx.req.headers))?.models ?? contractModels;
        const allowed = fact(ctx.state, 'caller').models;
        const seen = all.filter((one) => mayUseModel(allowed, one));
        const body = answerOf(words, seen, paramsOf(ctx));
        ctx.state.answer = { body: () => body };
        await next();
      };
    },
  };
}
