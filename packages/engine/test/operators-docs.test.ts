import { writtenPart } from '@decision/tooling/written-part';
import { operatorsTables } from './support/operators-docs';

it('docs/operators.md says what the catalogue says', () => {
  expect(writtenPart('operators.md', 'operators', operatorsTables())).toBe(operatorsTables());
});
