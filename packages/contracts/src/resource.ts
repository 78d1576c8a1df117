import { type Static, type TObject, type TOptional, type TSchema, Type } from '@sinclair/typebox';
import { type CamelCase, mapFields, memberOf, recordName } from './described-fields';

/**
 * One field of a resource of the control plane, under the name that its column, requests and answers give it. Row, record, request, answer,
 * example and what the audit shows follow from it.
 */
export interface ResourceField {
  /** Its schema in answers, with a description. Times are ISO 8601 UTC with milliseconds. */
  readonly schema: TSchema;
  /** Its value in the examples of the API document. */
  readonly example: unknown;
  /** Its schema in the request that makes the resource; default: callers do not give it. */
  readonly request?: TSchema;
  /** Its value where the request leaves it out; default: the request may not. */
  readonly whenAbsent?: unknown;
  /** False: answers do not show it. */
  readonly answered?: false;
  /** False: the audit does not show it. */
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

/** The fields that the caller of a new resource gives, with the values of those that were left out. */
export type GivenOf<F extends ResourceFields> = RecordOf<Pick<F, GivenName<F>>>;

type AnswerSchemas<F extends ResourceFields> = {
  [Name in keyof F & string as F[Name] extends { readonly answered: false } ? never : Name]: F[Name]['schema'];
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

const isAnswered = ({ answered }: ResourceField): boolean => answered !== false;

/** The properties of the answer. */
export const answerSchemas = <F extends ResourceFields>(fields: F) =>
  mapFields<AnswerSchemas<F>, ResourceField>(fields, (field, name) =>
    isAnswered(field) ? [name, field.schema] : undefined,
  );

/** The properties of the request that makes the resource; those with a value for their absence are optional. */
export const requestSchemas = <F extends ResourceFields>(fields: F) =>
  mapFields<RequestSchemas<F>, ResourceField>(fields, ({ request, ...field }, name) =>
    request === undefined ? undefined : [name, 'whenAbsent' in field ? Type.Optional(request) : request],
  );

/** An answer for the API document. */
export const answerExample = <F extends ResourceFields>(fields: F) =>
  mapFields<AnswerOf<F>, ResourceField>(fields, (field, name) =>
    isAnswered(field) ? [name, field.example] : undefined,
  );

/** A record as it is answered. */
export const toAnswer = <F extends ResourceFields>(fields: F, record: RecordOf<F>) =>
  mapFields<AnswerOf<F>, ResourceField>(fields, (field, name) =>
    isAnswered(field) ? [name, memberOf(record, recordName(name))] : undefined,
  );

/** The fields of a new resource that a request gives, with defaults for those that it leaves out. */
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
