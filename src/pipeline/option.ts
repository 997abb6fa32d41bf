import { type Shape } from './stage.js';
import { OptionError } from '../core/option-error.js';

/** The shape of a stage that takes no option, so that a word meant for another is not lost. */
export function withoutOption(shape: Shape): (option: unknown) => Shape {
  return (option) => {
    if (option === undefined || option === null) return shape;
    throw new OptionError('it takes no option');
  };
}

/** An option as a message shows it. */
export function formatOption(option: unknown): string {
  return option === undefined ? 'nothing' : JSON.stringify(option);
}
