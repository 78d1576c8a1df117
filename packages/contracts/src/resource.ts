import { type Static, type TObject, type TOptional, type TSchema, Type } from '@sinclair/typebox';
import { type CamelCase, mapFields, memberOf, recordName } from './described-fields';

/**
 * One field of a control-plane resource, under its name in columns, requests and answers. Its row, record, request, answer, example and audit
 * form are derived from it.
 */
export interface ResourceField {
  /** Its schema in answers, with a description. Times are ISO 8601 UTC with milliseconds. */
  readonly schema: TSchema;
  /** Its value in the examples of the API document. */
  readonly example: unknown;
  /** Its schema in the request that creates the resource; default: callers cannot set it. */
  readonly request?: TSchema;
  /** Its value if the request omits it; default: the request must include it. */
  readonly whenAbsent?: unknown;
  /** False: answers omit it. */
  readonly answered?: false;
  /** Its name in answers, if different from the column. */
  readonly answeredAs?: string;
  /** False: the audit omits it. */
  readonly audited?: false;
}

export type ResourceFields = Readonly<Record<string, ResourceField>>;

type Frozen<T> = T extends readonly (infer Entry)[] ? readonly Entry[] : T;

/** The resource as services handle it: names in camel case. */
export type RecordOf<F extends ResourceFields> = {
  readonly [Name in keyof F & string as CamelCase<Name>]: Frozen<Static<F[Name]['schema']>>;
};

type GivenName<F extends ResourceFields> = {
  [Name in keyof F & string]: F[Name] extends { readonly request: TSchema } ? Name : never;
}[keyof F & string];

/** The fields that the caller of a new resource provides, with defaults for omitted ones. */
export type GivenOf<F extends ResourceFields> = RecordOf<Pick<F, GivenName<F>>>;

type AnswerName<F, Name extends string> = F extends { readonly answered: false }
  ? never
  : F extends { readonly answeredAs: infer Shown extends string }
    ? Shown
    : Name;

type AnswerSchemas<F extends ResourceFields> = {
  [Name in keyof F & string as AnswerName<F[Name], Name>]: F[Name]['schema'];
};

type RequestSchemas<F extends ResourceFields> = {
  [Name in GivenName<F>]: F[Name] extends { readonly request: infer S extends TSchema; readonly whenAbsent: unknown }
    ? TOptional<S>
    : F[Name] extends { readonly request: infer S extends TSchema }
      ? S
      : never;
};

type AnswerOf<F extends ResourceFields> = Static<TObject<AnswerSchemas<F>>>;
type RequestOf<F extends ResourceFields> = Static<TObject<RequestSchemas<F>>>;

const mapAnswered = <Result>(fields: ResourceFields, become: (field: ResourceField, name: string) => unknown): Result =>
  mapFields<Result, ResourceField>(fields, (field, name) =>
    field.answered === false ? undefined : [field.answeredAs ?? name, become(field, name)],
  );

/** The properties of the answer. */
export const answerSchemas = <F extends ResourceFields>(fields: F) =>
  mapAnswered<AnswerSchemas<F>>(fields, ({ schema }) => schema);

/** The properties of the request that creates the resource; those with a default are optional. */
export const requestSchemas = <F extends ResourceFields>(fields: F) =>
  mapFields<RequestSchemas<F>, ResourceField>(fields, ({ request, ...field }, name) =>
    request === undefined ? undefined : [name, 'whenAbsent' in field ? Type.Optional(request) : request],
  );

/** An answer for the API document. */
export const answerExample = <F extends ResourceFields>(fields: F) =>
  mapAnswered<AnswerOf<F>>(fields, ({ example }) => example);

/** A record as it is answered. */
export const toAnswer = <F extends ResourceFields>(fields: F, record: RecordOf<F>) =>
  mapAnswered<AnswerOf<F>>(fields, (_, name) => memberOf(record, recordName(name)));

/** Properties of a record as a schema shows them: members of the record, whose names are in camel case. */
type ShownBy<S extends TObject> = {
  readonly [Name in keyof Static<S> as CamelCase<Name & string>]: Frozen<Static<S>[Name]>;
};

/** A record as a schema shows it, in the order of the schema; omits undefined members and members that the schema does not have. */
export const toShown = <S extends TObject>(schema: S, record: ShownBy<S>): Static<S> => {
  const members = Object.keys(schema.properties).map((name) => [name, memberOf(record, recordName(name))] as const);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
};

/** The fields of a new resource that a request provides, with defaults for omitted ones. */
export const toGiven = <F extends ResourceFields>(fields: F, request: RequestOf<F>) =>
  mapFields<GivenOf<F>, ResourceField>(fields, (field, name) => {
    const given = memberOf(request, name);
    return field.request === undefined ? undefined : [recordName(name), given === undefined ? field.whenAbsent : given];
  });

/** A record as the audit shows it. */
export const toAudited = <F extends ResourceFields>(fields: F, record: RecordOf<F>): object => ({
  ...record,
  ...mapFields<object, ResourceField>(fields, ({ audited }, name) =>
    audited === false ? [recordName(name), undefined] : undefined,
  ),
});
