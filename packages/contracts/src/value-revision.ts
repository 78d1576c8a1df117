import { type Static, Type } from '@sinclair/typebox';
import { compileValidator } from './validator';

/** The entry behind `cacheKeys.valueRevision`. */
const ValueRevision = Type.Integer({
  $id: 'ValueRevision',
  minimum: 0,
  description: 'How often the values of a workspace have changed; 0 before the first change.',
});
type ValueRevision = Static<typeof ValueRevision>;

export const checkValueRevision = compileValidator(ValueRevision);
