import { type Static, Type } from '@sinclair/typebox';
import { contextLimits, type FactType, factTypes } from './context-words';
import { described } from '../described';

const factName = Type.String({ minLength: 1, maxLength: contextLimits.factNameLength });
const description = Type.Optional(Type.Union([Type.String({ maxLength: 100_000 }), Type.Null()]));
const formula = Type.String({ minLength: 1, maxLength: contextLimits.formulaLength });

/** A fact that is submitted, or written by a bound asset. With type `function` it is a derived fact in another notation. */
export const BaseFact = Type.Object(
  {
    key: described(factName, 'Name of the fact, 1 to 200 characters.'),
    name: Type.Optional(Type.String({ maxLength: 500, description: 'Name for people, at most 500 characters.' })),
    description: described(description, 'Text for people, at most 100,000 characters; null for none.'),
    type: Type.Unsafe<FactType | 'function'>({
      type: 'string',
      enum: [...factTypes, 'function'],
      description: 'Type of the fact; `function` makes it a derived fact whose formula is `expression`.',
    }),
    required: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether an instance is pending until the fact has a value. Default false.',
      }),
    ),
    default_value: Type.Optional(Type.Unknown({ description: 'Stands where the fact was never given.' })),
    output_only: Type.Optional(Type.Boolean({ default: false, description: 'Only bound assets write it.' })),
    track_history: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether committed values are kept as history. Default false.' }),
    ),
    values_only: Type.Optional(Type.Boolean({ default: false, description: 'Holds members of the collection only.' })),
    values_collection: Type.Optional(
      Type.Union([Type.String({ maxLength: 512 }), Type.Null()], {
        description: 'Name of the collection that `values_only` means, at most 512 characters; null for none.',
      }),
    ),
    expression: Type.Optional(
      Type.Union([formula, Type.Null()], {
        description: 'Formula of a fact of type `function`, 1 to 10,000 characters; null for none.',
      }),
    ),
  },
  { $id: 'BaseFact', additionalProperties: false, description: 'A fact of a context.' },
);
export type BaseFact = Static<typeof BaseFact>;

/** Types of a derived fact; without a type it has any result of its formula. */
const derivedTypes = ['string', 'number', 'boolean', 'list', 'date'] as const;
export type DerivedType = (typeof derivedTypes)[number];

/** A fact that a formula computes from other facts and from related instances. */
export const DerivedFact = Type.Object(
  {
    key: described(factName, 'Name of the fact, 1 to 200 characters.'),
    name: Type.Optional(Type.String({ maxLength: 500, description: 'Name for people, at most 500 characters.' })),
    description: described(description, 'Text for people, at most 100,000 characters; null for none.'),
    expression: described(formula, 'Formula over other facts and related instances, 1 to 10,000 characters.'),
    type: Type.Optional(
      Type.Unsafe<DerivedType>({
        type: 'string',
        enum: [...derivedTypes],
        description: 'Type of the answer. Default: whatever the formula answers.',
      }),
    ),
    default_value: Type.Optional(Type.Unknown({ description: 'Stands where the formula has no answer.' })),
  },
  { $id: 'DerivedFact', additionalProperties: false, description: 'A computed fact of a context.' },
);
export type DerivedFact = Static<typeof DerivedFact>;

export const ContextSchema = Type.Object(
  {
    base: Type.Array(BaseFact, {
      minItems: 1,
      description: 'Facts that are submitted or written by bound assets, at least one.',
    }),
    derived: Type.Optional(Type.Array(DerivedFact, { description: 'Facts that formulas compute. Default: none.' })),
  },
  {
    $id: 'ContextSchema',
    additionalProperties: false,
    description: 'The facts of a context, as many as a request body can hold.',
  },
);
export type ContextSchema = Static<typeof ContextSchema>;
