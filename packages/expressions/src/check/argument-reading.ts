import { type ArgumentReading } from '../functions/definition';
import { functionNamed } from '../functions/catalogue';
import { type CallNode } from '../syntax/nodes';
import { selectorIn } from './formula-references';

/**
 * How much a call reads of its argument at an index, as the entry of its function in the catalogue declares it. Host functions read
 * their arguments whole.
 */
export const readingOfArgument = (call: CallNode, index: number): Exclude<ArgumentReading, 'selected'> => {
  const reading = functionNamed(call.name)?.readingOf(index) ?? 'whole';
  if (reading !== 'selected') return reading;
  return selectorIn(call, index + 1)?.root.kind === 'name' ? 'parts' : 'answered';
};
