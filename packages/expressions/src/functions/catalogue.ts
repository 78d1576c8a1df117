import { aggregateFunctions } from './aggregate-functions';
import { dateFunctions } from './date-functions';
import { type FunctionDefinition, type FunctionEntry } from './definition';
import { listFunctions } from './list-functions';
import { logicFunctions } from './logic-functions';
import { numberFunctions } from './number-functions';
import { selectionFunctions } from './selection-functions';
import { stringFunctions } from './string-functions';

const definitions: readonly FunctionDefinition[] = [
  ...numberFunctions,
  ...stringFunctions,
  ...listFunctions,
  ...selectionFunctions,
  ...aggregateFunctions,
  ...dateFunctions,
  ...logicFunctions,
];

const byName: ReadonlyMap<string, FunctionDefinition> = new Map(
  definitions.map((definition) => [definition.entry.name, definition]),
);

/** The function of the catalogue that has a name. */
export const functionNamed = (name: string): FunctionDefinition | undefined => byName.get(name);

/** Functions that every formula may call, sorted by name, with an example each. */
export const formulaFunctions: readonly FunctionEntry[] = Object.freeze(
  definitions.map((definition) => Object.freeze(definition.entry)).sort((a, b) => (a.name < b.name ? -1 : 1)),
);
