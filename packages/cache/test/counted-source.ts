import { compileValidator, type Validator } from '@decision/contracts';

export interface Thing {
  readonly name: string;
}

export const checkThing = compileValidator({
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' } },
  additionalProperties: false,
} as never) as Validator<Thing>; // The schema belongs to this type.

/** A source of truth that counts how often it is asked. */
export interface CountedSource {
  readonly load: () => Promise<Thing | undefined>;
  loads(): number;
  becomes(value: Thing | undefined): void;
}

export const createCountedSource = (first: Thing | undefined): CountedSource => {
  let value = first;
  let loads = 0;
  return {
    load: () => {
      loads += 1;
      return Promise.resolve(value);
    },
    loads: () => loads,
    becomes: (next) => {
      value = next;
    },
  };
};
