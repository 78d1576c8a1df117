import { type Static, type TOptional, type TSchema, Type } from '@sinclair/typebox';
import { described, shownAs } from '../described';
import { type CamelCase, mapFields, recordName } from '../described-fields';
import { type ResourceField } from '../resource';
import { ListedField } from './listed-field';
import { RuleBinding, RuleFolder } from './shown-parts';

/**
 * A field of a rule or flow, under its name in columns and lists; documents, records and the audit use the same name in camel case. Columns,
 * records, exports, imports, lists, versions, comparisons, examples and the audit form are derived from it.
 */
interface AssetField extends ResourceField {
  /** False: exports omit it, and imports do not accept it. */
  readonly documented?: false;
  /** Its schema in lists; default: lists omit it. */
  readonly listed?: TSchema;
  /** Its value in the example of a list; default: as in the example of an export. Undefined: omitted there. */
  readonly listedExample?: unknown;
}

/** A part of a draft: what a person edits before publishing. */
export interface DraftField extends AssetField {
  /** Its value in a draft that does not set it. */
  readonly empty: unknown;
  /** Part of a published version that stores it: the definition that determines answers, or the rest. */
  readonly kept: 'definition' | 'details';
}

export type AssetFields = Readonly<Record<string, AssetField>>;
export type DraftFields = Readonly<Record<string, DraftField>>;

/** A draft as services handle it. */
export type DraftRecord<F extends DraftFields> = {
  readonly [Name in keyof F & string as CamelCase<Name>]: Static<F[Name]['schema']>;
};

/** The part of a draft that lists show. */
export type ListedDraft<F extends DraftFields> = {
  readonly [Name in keyof F & string as F[Name] extends { readonly listed: TSchema } ? CamelCase<Name> : never]: Static<
    F[Name]['schema']
  >;
};

type ShownName<F, Name extends string> = F extends { readonly answeredAs: infer Shown extends string } ? Shown : Name;

type DocumentName<F, Name extends string> = F extends { readonly documented: false }
  ? never
  : CamelCase<ShownName<F, Name>>;

type DocumentSchemas<F extends AssetFields> = {
  [Name in keyof F & string as DocumentName<F[Name], Name>]: F[Name]['schema'];
};

type DocumentOf<F extends AssetFields> = {
  [Name in keyof F & string as DocumentName<F[Name], Name>]: Static<F[Name]['schema']>;
};

type ImportSchemas<F extends AssetFields> = {
  [Name in keyof F & string as DocumentName<F[Name], Name>]: TOptional<F[Name]['schema']>;
};

type ListedSchemas<F extends AssetFields> = {
  [
    Name in keyof F & string as F[Name] extends { readonly listed: TSchema } ? ShownName<F[Name], Name> : never
  ]: F[Name] extends { readonly listed: infer S extends TSchema } ? S : never;
};

const documentName = ({ documented, answeredAs }: AssetField, name: string): string | undefined =>
  documented === false ? undefined : recordName(answeredAs ?? name);

const mapDocumented = <Result>(fields: AssetFields, become: (field: AssetField) => unknown): Result =>
  mapFields<Result, AssetField>(fields, (field, name) => {
    const shown = documentName(field, name);
    return shown === undefined ? undefined : [shown, become(field)];
  });

/** The properties of an export. */
export const documentSchemas = <F extends AssetFields>(fields: F) =>
  mapDocumented<DocumentSchemas<F>>(fields, ({ schema }) => schema);

/** The properties of an import, all of them optional. */
export const importSchemas = <F extends AssetFields>(fields: F) =>
  mapDocumented<ImportSchemas<F>>(fields, ({ schema }) => Type.Optional(schema));

/** The properties of an entry of a list. */
export const listedSchemas = <F extends AssetFields>(fields: F) =>
  mapFields<ListedSchemas<F>, AssetField>(fields, ({ listed, answeredAs }, name) =>
    listed === undefined ? undefined : [answeredAs ?? name, listed],
  );

/** An export for the API document. */
export const documentExample = <F extends AssetFields>(fields: F) =>
  mapDocumented<DocumentOf<F>>(fields, ({ example }) => example);

/** An entry of a list for the API document. */
export const listedExample = (fields: AssetFields): object =>
  mapFields<object, AssetField>(fields, ({ listed, answeredAs, ...field }, name) => {
    const example = 'listedExample' in field ? field.listedExample : field.example;
    return listed === undefined || example === undefined ? undefined : [answeredAs ?? name, example];
  });

/** The names of the fields in records. */
export const recordNames = (fields: AssetFields): readonly string[] => Object.keys(fields).map(recordName);

/** A draft with no part set. */
export const emptyDraft = <F extends DraftFields>(fields: F) =>
  mapFields<DraftRecord<F>, DraftField>(fields, ({ empty }, name) => [recordName(name), empty]);

/** The parts of a draft in an import; absent parts are unchanged. */
export const givenDraft = <F extends DraftFields>(fields: F, imported: object) => {
  const given = Object.keys(documentSchemas(fields)).map((name) => [name, (imported as Record<string, unknown>)[name]]);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Partial<DraftRecord<F>>; // imports have the types of drafts
};

const nullableText = Type.Union([Type.String(), Type.Null()]);
const jsonObject = Type.Record(Type.String(), Type.Unknown());
const time = '2026-01-15T09:30:00.000Z';

/** Fields in addition to the draft: those of the asset itself, and of the version in service. */
export const assetFacts = {
  id: {
    schema: Type.String({ format: 'uuid', description: 'Id, a UUID.' }),
    listed: Type.String({ format: 'uuid', description: 'Id, a UUID.' }),
    example: '5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11',
  },
  slug: {
    schema: Type.String({ description: 'Name in solve addresses, unique in the workspace.' }),
    listed: Type.String({ description: 'Name in solve addresses.' }),
    example: 'parcel-price',
  },
  user_groups: {
    schema: Type.Array(Type.String()),
    documented: false,
    listed: Type.Array(Type.String(), {
      description: 'Names of the user groups that see it. Empty: every key of the workspace does.',
    }),
    example: [],
  },
  published_at: {
    schema: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When it was last published; null if it is not in service.',
    }),
    example: time,
  },
  published_version: {
    answeredAs: 'version',
    schema: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], { description: 'The latest published version.' }),
    listed: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Number of the latest published version; null if there is none.',
    }),
    example: 1,
  },
  created_at: {
    schema: Type.String({ format: 'date-time', description: 'When it was made, ISO 8601 in UTC.' }),
    listed: Type.String({ format: 'date-time', description: 'When it was made, ISO 8601 in UTC.' }),
    example: time,
  },
  updated_at: {
    schema: Type.String({ format: 'date-time', description: 'When it was last changed, ISO 8601 in UTC.' }),
    listed: Type.String({ format: 'date-time', description: 'When it was last changed, ISO 8601 in UTC.' }),
    example: time,
  },
  updated_by: {
    schema: described(nullableText, 'The API key that changed it last; null if it is not known.'),
    example: null,
  },
} as const satisfies AssetFields;

/** In addition to {@link assetFacts}: whether one of its versions is in service. */
export const published = Type.Boolean({ description: 'Whether a published version is in service.' });

/** The name of a draft. */
export const nameField = <Empty extends string, Example extends string>(empty: Empty, example: Example) =>
  ({
    schema: Type.String({ minLength: 1, maxLength: 500, description: 'Name for people, 1 to 500 characters.' }),
    listed: Type.String({ description: 'Name for people.' }),
    empty,
    example,
    kept: 'details',
  }) as const satisfies DraftField;

/** Parts that describe a rule or flow to people. */
export const descriptiveFields = {
  description: {
    schema: Type.Union([Type.String({ maxLength: 100_000 }), Type.Null()], {
      description: 'Text for people, at most 100,000 characters; null for none.',
    }),
    listed: described(nullableText, 'Text for people; null if there is none.'),
    empty: null,
    example: null,
    kept: 'details',
  },
  labels: {
    schema: Type.Array(Type.String({ maxLength: 200 }), {
      maxItems: 100,
      description: 'Labels, at most 100 of at most 200 characters.',
    }),
    listed: Type.Array(Type.String(), { description: 'Labels.' }),
    empty: [],
    example: [],
    kept: 'details',
  },
  folder: {
    schema: shownAs(Type.Unknown(), RuleFolder),
    listed: Type.Optional(
      Type.Object(
        {
          id: Type.Optional(Type.String({ description: 'Id of the folder.' })),
          name: Type.Optional(Type.String({ description: 'Name of the folder.' })),
        },
        { description: 'Folder that contains it; absent if there is none.' },
      ),
    ),
    empty: null,
    example: null,
    listedExample: undefined,
    kept: 'details',
  },
} as const satisfies DraftFields;

/** The inputs in lists and, for rules, the outputs too. */
export const listedFields = (description: string) => Type.Array(ListedField, { description });

/** Parts that determine no answer and follow those that do: tests, samples, and the bindings of the asset. */
export const attachedFields = {
  test_suite: {
    schema: Type.Array(jsonObject, {
      description: 'Tests of the rule in their order, with the fields of `RuleTest`; a missing `id` is made.',
    }),
    empty: [],
    example: [],
    kept: 'details',
  },
  sample_request: {
    schema: Type.Unknown({ description: 'An example of an input, for people; any JSON value.' }),
    empty: null,
    example: null,
    kept: 'details',
  },
  sample_response: {
    schema: Type.Unknown({ description: 'An example of an output, for people; any JSON value.' }),
    empty: null,
    example: null,
    kept: 'details',
  },
  test_request: {
    schema: Type.Unknown({ description: 'The input that an editor last tried; any JSON value.' }),
    empty: null,
    example: null,
    kept: 'details',
  },
  metadata: {
    schema: described(jsonObject, 'Any JSON object; kept, and of no meaning to the service.'),
    listed: described(jsonObject, 'Any JSON object; kept, and of no meaning to the service.'),
    empty: {},
    example: {},
    kept: 'details',
  },
  context: {
    schema: shownAs(Type.Unknown(), RuleBinding),
    listed: Type.Optional(
      Type.Object(
        {
          id: Type.Optional(Type.String({ description: 'Id of the context.' })),
          name: Type.Optional(Type.String({ description: 'Name of the context.' })),
          slug: Type.Optional(Type.String({ description: 'Slug of the context.' })),
        },
        { description: 'Context that it is bound to; absent if there is none.' },
      ),
    ),
    empty: null,
    example: null,
    listedExample: undefined,
    kept: 'details',
  },
} as const satisfies DraftFields;
